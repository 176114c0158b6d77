// `sekisho grants request`: a RepositoryGrant from flags, with the rights of the person, and what happens next. The API server
// judges it: nothing is decided here.
import type { Installation } from '../../../api/github/installation.ts'
import { permissionsText, subjectsText } from '../../../api/github/repository-grant/access-text.ts'
import type { RepositoryGrant } from '../../../api/github/repository-grant.ts'
import type { NewObject } from '../../../kube/client/client.ts'
import { findCondition } from '../../../kube/object/conditions.ts'
import { AppError } from '../../../lib/errors.ts'
import { defined } from '../../../lib/json/defined.ts'
import { boundedName } from '../../../lib/text/bounded-name.ts'
import { type Cluster, fieldManager } from '../../kubernetes/cluster.ts'
import { installations, repositoryGrants } from '../../kubernetes/kinds.ts'
import { settled } from '../../kubernetes/until.ts'
import { type ClusterFormat, present } from '../../output.ts'
import type { ClusterContext } from '../cluster-context.ts'
import { resultOf } from './show-grants.ts'

type Subject = RepositoryGrant['spec']['subjects'][number]
type Permission = readonly [name: string, level: RepositoryGrant['spec']['permissions'][string]]

export type RequestOptions = {
  readonly repository: readonly string[]
  readonly permission: readonly Permission[]
  readonly for: readonly Subject[]
  readonly delivery?: RepositoryGrant['spec']['delivery']
  /** In seconds. */
  readonly lifetime?: number
  readonly reason: string
  readonly installation?: string
  readonly dryRun?: boolean
  readonly wait?: boolean
  readonly output: ClusterFormat
}

const waitMilliseconds = 60_000

/** `-o yaml` prints what was stored, or with `--dry-run` what would be: a file for `kubectl apply`. */
export async function grantsRequest(context: ClusterContext, options: RequestOptions, given?: string): Promise<void> {
  const { cluster, terminal, clock } = context
  const dryRun = options.dryRun === true
  const name = given ?? nameFrom(options)
  const desired = grantOf(options, { name, namespace: cluster.namespace, installation: await installationOf(cluster, options) })
  const made = await cluster.client.create(repositoryGrants, desired, { fieldManager, dryRun })
  if (options.output === 'yaml') {
    const { stringify } = await import('yaml')
    const { apiVersion, kind, metadata, spec } = made
    const { namespace } = metadata
    return terminal.result(stringify({ apiVersion, kind, metadata: { name, namespace }, spec }).trimEnd())
  }
  const decided = options.wait === true && !dryRun ? await decidedOf(cluster, made, clock) : made
  const value = { ...resultOf(decided), dryRun }
  await present(terminal, options.output, { value, text: () => (dryRun ? wouldText(desired) : nextText(decided)) })
}

/** Of the first subject and repository: `web-reads-shop`. */
function nameFrom({ for: [subject], repository: [repository = ''], permission }: RequestOptions): string {
  const verb = permission.every(([, level]) => level === 'read') ? 'reads' : 'writes'
  const readable = `${subject?.name ?? 'grant'}-${verb}-${repository.split('/')[1] ?? repository}`
  return boundedName(readable.toLowerCase().replaceAll(/[^a-z0-9-]+/g, '-'), 63)
}

type Placed = { readonly name: string; readonly namespace: string; readonly installation: string }

/** What is left out has the default of the API server; `requestedBy` is filled in by admission. */
function grantOf(options: RequestOptions, { name, namespace, installation }: Placed): NewObject<RepositoryGrant> {
  const { apiVersion, kind } = repositoryGrants
  const { repository, permission, for: subjects, delivery, lifetime, reason } = options
  const spec = {
    installation,
    repositories: repository,
    permissions: Object.fromEntries(permission),
    subjects,
    reason,
    ...defined({ delivery }),
    ...(lifetime === undefined ? {} : { lifetimeSeconds: lifetime }),
  }
  return { apiVersion, kind, metadata: { name, namespace }, spec } as NewObject<RepositoryGrant>
}

/** The one that was named, or the only one in the namespace. Rejects with the cure when none is certain. */
async function installationOf({ client, namespace }: Cluster, { installation }: RequestOptions): Promise<string> {
  if (installation !== undefined) return installation
  const all: readonly Installation[] = await client.list(installations, { namespace })
  const [only, ...others] = all.map(({ metadata }) => metadata.name)
  if (only !== undefined && others.length === 0) return only
  const cure =
    only === undefined
      ? 'an owner of the GitHub account onboards it'
      : `choose one with --installation: ${[only, ...others].join(', ')}`
  throw new AppError(
    'not_found',
    `there ${only === undefined ? 'is no Installation' : 'are several Installations'} in ${namespace}: ${cure}`,
  )
}

/** When it is decided, or waits for people; what is known after a minute otherwise. */
function decidedOf({ client }: Cluster, object: RepositoryGrant, clock: ClusterContext['clock']): Promise<RepositoryGrant> {
  const isDone = ({ status }: RepositoryGrant): boolean => status?.decision !== undefined
  return settled({ client, clock, type: repositoryGrants, object, milliseconds: waitMilliseconds, isDone })
}

function wouldText({ metadata, spec }: NewObject<RepositoryGrant>): string {
  return `would request ${metadata.name}: ${permissionsText(spec.permissions)} on ${spec.repositories.join(', ')} for ${subjectsText(spec.subjects)} (dry run); -o yaml prints the manifest`
}

/** What there is, and who has to do what now. */
export function nextText({ metadata, spec, status }: RepositoryGrant): string {
  const { name, namespace } = metadata
  const what = `${permissionsText(spec.permissions)} on ${spec.repositories.join(', ')} for ${subjectsText(spec.subjects)}`
  const message = findCondition(status?.conditions, 'Ready')?.message ?? ''
  const rest: Readonly<Record<string, string>> = {
    Approved: `approved until ${status?.expiresAt ?? 'its end'}: ${message}`,
    Waiting: `waits for people: ${message}\nAn admin of the tenant who did not request it answers, on the page /tenants/${namespace}/grants of the platform or by the command above`,
    Denied: `denied: ${message}\nA grant never changes: kubectl delete repositorygrant ${name}, and request again`,
  }
  const next = rest[status?.decision ?? ''] ?? `not decided yet: sekisho grants explain ${name} says what comes of it`
  return `requested ${name}: ${what}\n${next}`
}
