// What an AppPipeline wants to exist for one pull request: an Application, a RemoteSync that builds its image, and the services
// that it has for itself. Pure.
import type { PreviewFact } from '../../api/apps/app-pipeline/preview.ts'
import { previewServices } from '../../api/apps/app-pipeline/services.ts'
import { type AppPipeline, appPipeline } from '../../api/apps/app-pipeline.ts'
import { type IngressAddress, platformHost, urlOf } from '../../api/apps/application/url.ts'
import { type Application, application as applications } from '../../api/apps/application.ts'
import { type RemoteSync, remoteSync as remoteSyncs } from '../../api/apps/remote-sync.ts'
import { followedRepository } from '../../api/capabilities/repository-follower.ts'
import { labels, previewName } from '../../api/names.ts'
import type { BoundKind } from '../../api/services/service-binding.ts'
import type { PullRequest } from '../../github/index.ts'
import { type Manifest, type OwnedManifest, ownedManifest } from '../kit/owned-application/manifest.ts'
import { isOfFork } from './policy/checks.ts'
import { templateOfFork } from './preview/fork.ts'
import { hostLabel } from './preview/host.ts'
import { ownServices, type ServiceFacts, serviceType } from './preview/own-services.ts'

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

/** Facts win over the template: a preview must not believe that it is another one. */
function environmentOf(facts: PreviewFacts): Application['spec']['env'] {
  const { env: own = [] } = facts.pipeline.spec
  const names = new Set(own.map(({ name }) => name))
  const shared = (templateOf(facts).application.env ?? []).filter(({ name }) => !names.has(name))
  const all = [...shared, ...own.map(({ name, fact }) => ({ name, value: textOf(fact, facts) }))]
  return all.length === 0 ? undefined : all
}

/** What the objects of a preview have in common. */
function placeOf({ pipeline, repository, pull }: PreviewFacts): Pick<OwnedManifest, 'owner' | 'ownerType' | 'part' | 'labels'> {
  const place = { [labels.repository]: String(repository), [labels.pullRequest]: String(pull.number) }
  return { owner: pipeline, ownerType: appPipeline, part: `pr-${pull.number}`, labels: place }
}

/** Until a release has been rolled out, the hook takes the place of the release job: it gates the first one. */
function releaseJobOf(facts: PreviewFacts): Application['spec']['releaseJob'] {
  const { created } = facts.pipeline.spec.hooks ?? {}
  const own = facts.pipeline.spec.template.application.releaseJob
  return facts.application?.status?.release === undefined ? (created ?? own) : own
}

/**
 * A preview leaves nothing behind: the next one of its name may be of a fork, or, when the repository was made again, of a
 * stranger's pull request with the same number.
 */
function volumesOf({ pipeline }: PreviewFacts): Application['spec']['volumes'] {
  return pipeline.spec.template.application.volumes?.map(volume => ({ ...volume, whenDeleted: 'Delete' }))
}

/** What its own services are made from. */
export function serviceFactsOf(facts: Pick<PreviewFacts, 'pipeline' | 'repository' | 'pull'>): ServiceFacts {
  return { pipeline: facts.pipeline, number: facts.pull.number, template: templateOf(facts) }
}

type DesiredService = { readonly kind: BoundKind; readonly manifest: Manifest }

/** What a preview has for itself. The data go with it, for the same reason as those of volumes. */
export function desiredServices(facts: PreviewFacts): readonly DesiredService[] {
  return ownServices(serviceFactsOf(facts)).map(({ entry, kind, name }) => {
    const { class: of, plan, parameters } = entry
    const own = kind === 'Bucket' ? { ...parameters?.bucket, emptyWhenDeleted: true } : { parameters }
    const spec = { class: of, plan, ...own, whenDeleted: 'Delete' }
    return { kind, manifest: ownedManifest({ ...placeOf(facts), name, type: serviceType({ kind }), spec }) }
  })
}

/** The Application of a preview. A RemoteSync sets its image and commit. */
export function desiredApplication(facts: PreviewFacts): Manifest {
  const { application, metadata: given } = templateOf(facts)
  const place = placeOf(facts)
  return ownedManifest({
    ...place,
    type: applications,
    labels: { ...given?.labels, ...place.labels },
    annotations: given?.annotations,
    spec: {
      ...application,
      volumes: volumesOf(facts),
      services: previewServices(facts.pipeline.metadata, facts.pull.number, templateOf(facts)),
      env: environmentOf(facts),
      releaseJob: releaseJobOf(facts),
      domains: [hostOf(facts)],
      suspend: facts.paused ? true : undefined,
    },
  })
}

/**
 * The name of the repository. One that exists keeps the name that it has while that means the repository: a change of
 * `spec.repository` would make it look the name up again, and somebody else may have taken it since.
 */
function repositoryName({ pipeline, remoteSync, repository }: PreviewFacts): string {
  const followed = remoteSync && followedRepository(remoteSync)
  if (remoteSync !== undefined && followed?.id === repository) return remoteSync.spec.repository
  return followedRepository(pipeline)?.name ?? pipeline.spec.repository
}

/** The RemoteSync of a preview, in the name of the person of the AppPipeline. */
export function desiredRemoteSync(facts: PreviewFacts): Manifest {
  const { metadata, spec } = facts.pipeline
  const template = templateOf(facts)
  const { number } = facts.pull
  return ownedManifest({
    ...placeOf(facts),
    type: remoteSyncs,
    spec: {
      installation: spec.installation,
      repository: repositoryName(facts),
      requestedBy: spec.requestedBy,
      source: { pullRequest: number, ...(template.source === 'Merge' ? { mergeCommit: true } : {}) },
      subPath: template.subPath,
      paths: template.paths,
      build: template.build,
      application: previewName(metadata.name, number),
      suspend: facts.paused ? true : undefined,
    },
  })
}
