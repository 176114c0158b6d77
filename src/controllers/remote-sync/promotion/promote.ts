// Whether a branch can take the image of a preview instead of building its newest commit: the files are the same (git compares
// them by the tree), the build settings are the same, and the image is still in the registry and names the commit it was built
// from. Doubt builds. Reads only.
import type { RemoteSync } from '../../../api/apps/remote-sync.ts'
import type { RepositoryClient } from '../../../github/index.ts'
import type { CommitProof } from '../../../services/builds/builder.ts'
import type { ReconcileState, RemoteSyncStatus } from '../status.ts'
import { type BuiltPreview, buildInputs, builtPreview, isPromoted } from './built-preview.ts'
import type { RecentPreviews } from './recent-previews.ts'

export type PromotionDeps = {
  readonly caches: { readonly remoteSyncs: { readonly list: (namespace: string) => readonly RemoteSync[] } }
  readonly recentPreviews: RecentPreviews
  /** The images of previews that have ended are about to be deleted. */
  readonly imageClaims: { readonly claim: (image: string) => boolean }
  /** Which commit the image names, asked of the registry now. */
  readonly proofOf: (strategy: BuiltPreview['strategy'], image: string) => Promise<CommitProof>
}

/** Those of the repository with the build settings of the RemoteSync. */
function candidates(
  { caches, recentPreviews }: PromotionDeps,
  { metadata, spec }: RemoteSync,
  repository: number,
): BuiltPreview[] {
  const { namespace = '' } = metadata
  const inputs = buildInputs(spec)
  const running = caches.remoteSyncs.list(namespace).flatMap(other => builtPreview(other) ?? [])
  return [...running, ...recentPreviews.of(namespace)].filter(one => one.repository === repository && one.inputs === inputs)
}

/** Only a branch takes images, and only when the commit has none yet and none is being built. */
function mayTake(remoteSync: RemoteSync, commit: string): boolean {
  const { spec, status = {} } = remoteSync
  const { pullRequest, commit: fixed } = spec.source
  if (pullRequest !== undefined || fixed !== undefined || isPromoted(remoteSync, status, commit)) return false
  return status.imageCommit !== commit && status.build?.commit !== commit
}

export type Promotion = { readonly tree: string; readonly preview: BuiltPreview }

/** Resolves to undefined when the commit has to be built. Rejects as the client does. */
export async function findPromotion(
  deps: PromotionDeps,
  client: Pick<RepositoryClient, 'commit'>,
  remoteSync: RemoteSync,
  { repository, commit }: { readonly repository: number; readonly commit: string },
): Promise<Promotion | undefined> {
  const known = mayTake(remoteSync, commit) ? candidates(deps, remoteSync, repository) : []
  if (known.length === 0) return undefined
  const tree = (await client.commit(repository, commit))?.tree
  const preview = known.find(one => one.tree === tree)
  if (tree === undefined || preview === undefined || !deps.imageClaims.claim(preview.image)) return undefined
  const proof = await deps.proofOf(preview.strategy, preview.image)
  return proof.kind === 'proven' && proof.commit === preview.commit ? { tree, preview } : undefined
}

/** A copy in which the image of the preview is that of the commit. */
export function withPromotion(state: ReconcileState, commit: string, { tree, preview }: Promotion): ReconcileState {
  const { imageBuild, imageSource, runImage, imageBuilder, rebase, failedCommit, failure, ...kept } = state.status
  const promoted = { commit, from: preview.commit, pullRequest: preview.pullRequest, inputs: preview.inputs }
  const status: RemoteSyncStatus = { ...kept, tree, image: preview.image, imageCommit: preview.commit, promoted }
  return { ...state, status }
}
