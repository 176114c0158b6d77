// What an AppPipeline wants to exist for one pull request: an Application and a RemoteSync that builds its image. Pure.
import { createHash } from 'node:crypto'
import type { PreviewFact } from '../../api/apps/app-pipeline/preview.ts'
import { type AppPipeline, appPipeline } from '../../api/apps/app-pipeline.ts'
import { type IngressAddress, platformHost, urlOf } from '../../api/apps/application/url.ts'
import { type Application, application as applications } from '../../api/apps/application.ts'
import { type RemoteSync, remoteSync as remoteSyncs } from '../../api/apps/remote-sync.ts'
import { domain } from '../../api/kind.ts'
import { labels, previewName } from '../../api/names.ts'
import { followedRepository } from '../../api/repository-follower.ts'
import type { KubeObject, ObjectMeta } from '../../api/resource.ts'
import type { PullRequest } from '../../github/index.ts'
import type { Applied } from '../../kube/client/client.ts'
import { ownerReference } from '../../kube/object/owner.ts'
import { canonicalJson, type JsonValue } from '../../lib/json/canonical-json.ts'
import { defined } from '../../lib/json/defined.ts'
import { sameJson } from '../../lib/json/same-json.ts'
import { isOfFork } from './policy/checks.ts'
import { templateOfFork } from './preview/fork.ts'
import { hostLabel } from './preview/host.ts'

/** On what belongs to a preview: a hash of what was applied last, so that a field that the template no longer has is removed. */
export const desiredHashAnnotation = `${domain}/preview-hash`

/** An object as it is applied. */
export type Manifest = Applied & {
  readonly metadata: { readonly name: string; readonly namespace: string } & Partial<ObjectMeta>
  readonly spec: Readonly<Record<string, unknown>>
}

/** What one preview is made from. */
export type PreviewFacts = {
  readonly pipeline: AppPipeline
  /** The numeric id of the repository that is followed. */
  readonly repository: number
  readonly pull: PullRequest
  readonly paused: boolean
  readonly ingress: Pick<IngressAddress, 'publicUrl' | 'tlsPort'>
  /** What exists. */
  readonly application: Application | undefined
  readonly remoteSync: RemoteSync | undefined
}

/** What this preview is made of: of a fork, only what strangers may have. */
export function templateOf({
  pipeline,
  repository,
  pull,
}: Pick<PreviewFacts, 'pipeline' | 'repository' | 'pull'>): AppPipeline['spec']['template'] {
  const { template } = pipeline.spec
  return isOfFork(pull, repository) ? templateOfFork(template) : template
}

/** The host name of a preview. */
export function hostOf({ pipeline, repository, pull, ingress }: PreviewFacts): string {
  const { name, namespace = '' } = pipeline.metadata
  const isFork = isOfFork(pull, repository)
  const label = hostLabel({ pattern: pipeline.spec.host, pipeline: name, number: pull.number, branch: pull.headBranch, isFork })
  return platformHost(label, namespace, ingress)
}

function textOf(fact: PreviewFact, facts: PreviewFacts): string {
  const { pull, pipeline, ingress } = facts
  switch (fact) {
    case 'Number':
      return String(pull.number)
    case 'HeadBranch':
      return pull.headBranch
    case 'BaseBranch':
      return pull.baseBranch
    case 'Author':
      return pull.author?.login ?? ''
    case 'Url':
      return urlOf(hostOf(facts), ingress, pipeline.spec.template.application.tls !== undefined)
  }
}

/**
 * Kubernetes replaces `$(NAME)` in a value by another variable of the pod, such as one with a secret, and reads `$$` as `$`.
 * https://kubernetes.io/docs/tasks/inject-data-application/define-interdependent-environment-variables/
 */
function literal(value: string): string {
  return value.replaceAll('$', '$$$$')
}

/** Facts win over the template: a preview must not believe that it is another one. */
function environmentOf(facts: PreviewFacts): Application['spec']['env'] {
  const { env: own = [] } = facts.pipeline.spec
  const names = new Set(own.map(({ name }) => name))
  const shared = (templateOf(facts).application.env ?? []).filter(({ name }) => !names.has(name))
  const all = [...shared, ...own.map(({ name, fact }) => ({ name, value: literal(textOf(fact, facts)) }))]
  return all.length === 0 ? undefined : all
}

function withHash(manifest: Manifest): Manifest {
  const hash = createHash('sha256')
    .update(canonicalJson(manifest as unknown as JsonValue))
    .digest('hex')
    .slice(0, 32)
  const annotations = { ...manifest.metadata.annotations, [desiredHashAnnotation]: hash }
  return { ...manifest, metadata: { ...manifest.metadata, annotations } }
}

function metadataOf({ pipeline, repository, pull }: PreviewFacts, kind: 'Application' | 'RemoteSync'): Manifest['metadata'] {
  const { name, namespace = '' } = pipeline.metadata
  const { metadata: given = {} } = pipeline.spec.template
  const ofTemplate = kind === 'Application' ? given : {}
  return {
    name: previewName(name, pull.number),
    namespace,
    labels: {
      ...ofTemplate.labels,
      [labels.appPipeline]: name,
      [labels.repository]: String(repository),
      [labels.pullRequest]: String(pull.number),
    },
    ...defined({ annotations: ofTemplate.annotations }),
    ownerReferences: [
      ownerReference({ ...pipeline, apiVersion: appPipeline.apiVersion, kind: appPipeline.kind }, { controller: true }),
    ],
  }
}

/** JSON has no undefined fields, and a hash must not depend on them. */
function present(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

/** Until a release has been rolled out, the hook takes the place of the release job: it gates the first one. */
function releaseJobOf(facts: PreviewFacts): Application['spec']['releaseJob'] {
  const { created } = facts.pipeline.spec.hooks ?? {}
  const own = facts.pipeline.spec.template.application.releaseJob
  return facts.application?.status?.release === undefined ? (created ?? own) : own
}

/**
 * A preview leaves nothing behind: the next one of its name may be of a fork, or, when the repository was made again, of a stranger's pull request
 * with the same number.
 */
function volumesOf({ pipeline }: PreviewFacts): Application['spec']['volumes'] {
  return pipeline.spec.template.application.volumes?.map(volume => ({ ...volume, whenDeleted: 'Delete' }))
}

/** The Application of a preview. A RemoteSync sets its image and commit. */
export function desiredApplication(facts: PreviewFacts): Manifest {
  const template = templateOf(facts)
  return withHash({
    apiVersion: applications.apiVersion,
    kind: applications.kind,
    metadata: metadataOf(facts, 'Application'),
    spec: present({
      ...template.application,
      volumes: volumesOf(facts),
      env: environmentOf(facts),
      releaseJob: releaseJobOf(facts),
      domains: [hostOf(facts)],
      suspend: facts.paused ? true : undefined,
    }),
  })
}

/**
 * The name of the repository. One that exists keeps the name that it has while that means the repository: a change of `spec.repository` would make
 * it look the name up again, and somebody else may have taken it since.
 */
function repositoryName({ pipeline, remoteSync, repository }: PreviewFacts): string {
  const followed = remoteSync && followedRepository(remoteSync)
  if (remoteSync !== undefined && followed?.id === repository) return remoteSync.spec.repository
  return followedRepository(pipeline)?.name ?? pipeline.spec.repository
}

/** The RemoteSync of a preview, in the name of the person of the AppPipeline. */
export function desiredRemoteSync(facts: PreviewFacts): Manifest {
  const { installation, requestedBy } = facts.pipeline.spec
  const template = templateOf(facts)
  const metadata = metadataOf(facts, 'RemoteSync')
  return withHash({
    apiVersion: remoteSyncs.apiVersion,
    kind: remoteSyncs.kind,
    metadata,
    spec: present({
      installation,
      repository: repositoryName(facts),
      requestedBy,
      source: { pullRequest: facts.pull.number, ...(template.source === 'Merge' ? { mergeCommit: true } : {}) },
      subPath: template.subPath,
      paths: template.paths,
      build: template.build,
      application: metadata.name,
      suspend: facts.paused ? true : undefined,
    }),
  })
}

/** Whether applying the manifest would change the object: the hash finds what the template no longer has, the fields what others changed. */
export function isAsDesired(live: KubeObject & { readonly spec: object }, { metadata, spec }: Manifest): boolean {
  if (live.metadata.annotations?.[desiredHashAnnotation] !== metadata.annotations?.[desiredHashAnnotation]) return false
  const present: Readonly<Record<string, unknown>> = { ...live.spec }
  return Object.entries(spec).every(([field, value]) => sameJson(present[field], value))
}
