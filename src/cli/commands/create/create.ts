// `sekisho create`: the Application and the RemoteSync of a repository. What exists already and fits is left as it is.
import type { Application } from '../../../api/apps/application.ts'
import { runsIn } from '../../../api/apps/remote-sync/applications.ts'
import type { RemoteSync } from '../../../api/apps/remote-sync.ts'
import { isKubeError } from '../../../kube/client/errors.ts'
import { AppError } from '../../../lib/errors.ts'
import { type Cluster, fieldManager } from '../../kubernetes/cluster.ts'
import { applications, installations, remoteSyncs } from '../../kubernetes/kinds.ts'
import { type ClusterFormat, present } from '../../output.ts'
import type { ClusterContext } from '../cluster-context.ts'
import { type Manifests, manifestsOf, nameFrom, repositoryIn } from './manifests.ts'
import { isDnsLabel } from './wanted.ts'

export type CreateOptions = {
  readonly repository: string
  readonly branch?: string
  readonly path?: string
  readonly installation?: string
  readonly dockerfile?: string
  readonly dryRun?: boolean
  readonly output: ClusterFormat
}

/**
 * Rejects with `conflict` when something else has the name. `-o yaml` prints what was stored, or with `--dry-run` what would be:
 * a file for `kubectl apply`.
 */
export async function create(context: ClusterContext, options: CreateOptions, given?: string): Promise<void> {
  const { cluster, terminal } = context
  const repository = repositoryIn(options.repository)
  const name = nameOf(given, repository)
  const manifests = manifestsOf({
    name,
    namespace: cluster.namespace,
    repository,
    installation: await installationFor(cluster, repository, options.installation),
    branch: options.branch,
    subPath: options.path,
    build: options.dockerfile === undefined ? {} : { strategy: 'Dockerfile', dockerfile: options.dockerfile },
    application: {},
  })
  const before = await existing(cluster, name)
  const problem = conflictWith(before, manifests)
  if (problem !== undefined) throw new AppError('conflict', problem)
  const made = await make(cluster, manifests, before, options.dryRun === true)
  const value = [manifests.application, manifests.remoteSync]
  if (options.output === 'yaml') {
    const { stringify } = await import('yaml')
    return terminal.result(value.map(one => stringify(one).trimEnd()).join('\n---\n'))
  }
  const text = (): string => said(name, repository, made, options.dryRun === true)
  await present(terminal, options.output, { value: { apiVersion: 'v1', kind: 'List', items: value, created: made }, text })
}

function nameOf(given: string | undefined, repository: string): string {
  if (given === undefined) return nameFrom(repository.split('/')[1] ?? '')
  if (isDnsLabel(given)) return given
  throw new AppError(
    'invalid_request',
    `${given.slice(0, 80)}: the name of an Application has lower-case letters, digits and dashes, and begins with a letter, such as shop`,
  )
}

function said(name: string, repository: string, made: readonly string[], dryRun: boolean): string {
  if (made.length === 0)
    return `${name} exists already and is built from ${repository}: nothing was changed; sekisho status ${name} shows it`
  if (dryRun) return `${made.join(' and ')} ${name} would be created (dry run); -o yaml prints the manifests`
  return `${name}: ${made.join(' and ')} created. Next: push to ${repository}, then sekisho builds logs -f ${name}`
}

type Before = {
  readonly application: Application | undefined
  readonly sync: RemoteSync | undefined
  /** One of another name that builds the Application, alone or among others. */
  readonly builder: RemoteSync | undefined
}

async function existing({ client, namespace }: Cluster, name: string): Promise<Before> {
  const key = { name, namespace }
  const [application, all] = await Promise.all([client.get(applications, key), client.list(remoteSyncs, { namespace })])
  const sync = all.find(({ metadata }) => metadata.name === name)
  const builder = all.find(({ metadata, spec }) => metadata.name !== name && runsIn(spec, name))
  return { application, sync, builder }
}

/** What has the name and is something else, with the cure; undefined when what exists fits. Pure. */
export function conflictWith({ application, sync, builder }: Before, { remoteSync }: Manifests): string | undefined {
  const { name } = remoteSync.metadata
  const { repository, source, subPath } = remoteSync.spec
  const cure = 'choose another name, or change it with kubectl edit'
  if (sync === undefined && builder !== undefined)
    return `RemoteSync ${builder.metadata.name} builds Application ${name}: ${cure}`
  if (sync === undefined)
    return application?.spec.image === undefined || application.spec.followTag !== true
      ? undefined
      : `Application ${name} follows the tag of an image: ${cure}`
  if (sync.spec.application !== name) return `RemoteSync ${name} builds Application ${sync.spec.application}: ${cure}`
  if (sync.spec.repository.toLowerCase() !== String(repository).toLowerCase())
    return `RemoteSync ${name} follows ${sync.spec.repository}: ${cure}`
  const branch = (source as { readonly branch?: string }).branch
  if (branch !== undefined && sync.spec.source.branch !== branch)
    return `RemoteSync ${name} follows ${sync.spec.source.branch ?? 'the default branch'}: ${cure}`
  if (subPath !== undefined && sync.spec.subPath !== subPath)
    return `RemoteSync ${name} builds ${sync.spec.subPath ?? 'the whole repository'}: ${cure}`
  return undefined
}

/** Creates what is missing, the Application first, which the RemoteSync needs. Resolves to the kinds that were created. */
async function make(
  cluster: Cluster,
  { application, remoteSync }: Manifests,
  before: Before,
  dryRun: boolean,
): Promise<readonly string[]> {
  const made: string[] = []
  if (before.application === undefined && (await created(cluster, applications, application, dryRun)))
    made.push(applications.kind)
  if (before.sync === undefined && (await created(cluster, remoteSyncs, remoteSync, dryRun))) made.push(remoteSyncs.kind)
  return made
}

/** False when somebody else created it in the meantime. */
async function created(
  { client }: Cluster,
  type: typeof applications | typeof remoteSyncs,
  object: Manifests['application'],
  dryRun: boolean,
): Promise<boolean> {
  try {
    await client.create<Application | RemoteSync>(type, object as never, { fieldManager, dryRun })
    return true
  } catch (error) {
    if (isKubeError(error, 409)) return false
    throw error
  }
}

/** The one that was named, that of the owner of the repository, or the only one. Rejects with the cure when none is certain. */
async function installationFor({ client, namespace }: Cluster, repository: string, given: string | undefined): Promise<string> {
  if (given !== undefined) return given
  const all = await client.list(installations, { namespace })
  const owner = repository.split('/')[0]?.toLowerCase()
  const own = all.filter(({ spec }) => spec.account.login.toLowerCase() === owner)
  const [only, ...others] = own.length === 0 ? all : own
  const names = all.map(({ metadata, spec }) => `${metadata.name} (${spec.account.login})`).join(', ')
  if (only === undefined)
    throw new AppError(
      'not_found',
      `there is no Installation in ${namespace}: an owner of the GitHub organization onboards it on the page Onboard an account`,
    )
  if (others.length > 0)
    throw new AppError(
      'invalid_request',
      `there are several Installations in ${namespace}: name one of ${names} with --installation`,
    )
  return only.metadata.name
}
