// `sekisho halt`, `sekisho resume` and `sekisho halts`: a stop that holds, by the kind Halt of the Kubernetes API, with the
// rights of the person.
import type { Halt } from '../../../api/github/halt.ts'
import { platformNamespace } from '../../../api/names.ts'
import { isKubeError } from '../../../kube/client/errors.ts'
import { findCondition } from '../../../kube/object/conditions.ts'
import { AppError } from '../../../lib/errors.ts'
import { defined } from '../../../lib/json/defined.ts'
import { absent, type Cluster, fieldManager, found } from '../../kubernetes/cluster.ts'
import { halts } from '../../kubernetes/kinds.ts'
import { until } from '../../kubernetes/until.ts'
import { whoIs } from '../../kubernetes/who-is.ts'
import { age, type ClusterFormat, present, table } from '../../output.ts'
import { hashFromInput } from '../access/token-hash.ts'
import type { ClusterContext } from '../cluster-context.ts'
import { type EndsOfPerson, endsText, readEndsOfPerson } from './ends-of-person.ts'
import { readKnown, type Target, type TargetWord, targetOf } from './target.ts'

type Options = {
  readonly output: ClusterFormat
  readonly reason: string
  readonly dryRun?: boolean
  readonly tokenStdin?: boolean
  readonly scaleToZero?: boolean
  readonly platform?: boolean
}

/** Revoking goes on without the command; this is how long it waits to say how far it came. */
const waitMilliseconds = 30_000

/** What a Halt is about, as people write it. */
export function targetText({ type, token, grant, repository, person, tenant, installation }: Target): string {
  const named = (id: number, name: string | undefined): string => (name === undefined ? String(id) : `${name} (${id})`)
  if (token) return `token ${token.id ?? token.hash}`
  if (grant) return `grant ${grant.namespace}/${grant.name}`
  if (repository) return `repository ${named(repository.id, repository.name)} on ${repository.host}`
  if (person) return `person ${named(person.id, person.login)} on ${person.host}`
  if (tenant) return `tenant ${tenant.name}`
  if (installation) return `installation ${installation.id} on ${installation.host}`
  return type.toLowerCase()
}

/** The Halts of the platform are in its own namespace, whatever the namespace of the context. */
function placed(cluster: Cluster, { platform }: { readonly platform?: boolean }): Cluster {
  return platform === true ? { ...cluster, namespace: platformNamespace } : cluster
}

function resultOf(halt: Halt) {
  const { metadata, spec, status } = halt
  const ready = findCondition(status?.conditions, 'Ready')
  return {
    name: metadata.name,
    namespace: metadata.namespace,
    target: spec.target,
    reason: spec.reason,
    requestedBy: spec.requestedBy,
    workloads: spec.workloads,
    dryRun: spec.dryRun === true,
    state: ready?.reason ?? 'Pending',
    message: ready?.message ?? '',
    tokens: status?.tokens,
    grants: status?.grants,
    answeredAt: status?.answeredAt,
    createdAt: metadata.creationTimestamp,
  }
}

/** Creates a Halt, and says what ended or would end, as far as the platform came within half a minute. */
export async function haltCommand(context: ClusterContext, options: Options, word: TargetWord, text: string | undefined) {
  const { terminal, clock } = context
  const cluster = placed(context.cluster, options)
  const { client, namespace } = cluster
  if (word === 'token' && options.tokenStdin !== true && text === undefined)
    throw new AppError('invalid_request', 'name the token by its id or hash, or pass it with --token-stdin')
  if (word !== 'everything' && word !== 'token' && text === undefined)
    throw new AppError('invalid_request', `name the ${word}, as in sekisho halt ${word} NAME --reason TEXT`)
  const given = options.tokenStdin === true ? await hashFromInput() : (text ?? '')
  const known = await readKnown(cluster)
  const { apiVersion, kind } = halts
  const { user: requestedBy } = await whoIs(cluster)
  const spec = {
    target: targetOf(word, given, known, namespace),
    reason: options.reason,
    workloads: options.scaleToZero === true ? 'ScaleToZero' : 'Keep',
    ...(options.dryRun === true && { dryRun: true }),
    requestedBy,
  } as const
  const metadata = { generateName: `${word}-`, namespace }
  const made = await client.create(halts, { apiVersion, kind, metadata, spec }, { fieldManager })
  const done = await settled(cluster, made, clock)
  const value = resultOf(done ?? made)
  const ends = options.dryRun === true ? await endsOf(context, namespace, spec.target) : undefined
  const all = { ...value, ...defined({ ends }) }
  await present(terminal, options.output, { value: all, text: () => saying(value, options.dryRun === true, ends) })
}

/** Only a Halt of the platform ends what a person has at the broker. */
async function endsOf(context: ClusterContext, namespace: string, { person }: Target): Promise<EndsOfPerson | undefined> {
  return person === undefined || namespace !== platformNamespace ? undefined : readEndsOfPerson(context, person)
}

async function settled({ client }: Cluster, made: Halt, clock: ClusterContext['clock']): Promise<Halt | undefined> {
  const { uid, namespace = '' } = made.metadata
  const signal = AbortSignal.timeout(waitMilliseconds)
  const answer = (object: Halt, deleted: boolean): Halt | undefined =>
    object.metadata.uid === uid && !deleted && isSettled(object) ? object : undefined
  try {
    return await until({ client, clock, type: halts, namespace, labelSelector: '', signal, answer })
  } catch (error) {
    // It goes on by itself: what is known is said.
    if (signal.aborted) return undefined
    throw error
  }
}

function isSettled({ status }: Halt): boolean {
  const ready = findCondition(status?.conditions, 'Ready')
  return ready !== undefined && ready.reason !== 'Revoking'
}

function saying(value: ReturnType<typeof resultOf>, dryRun: boolean, ends: EndsOfPerson | undefined): string {
  const { tokens, grants } = value
  const names = grants?.names.join(', ') ?? ''
  const more = (grants?.count ?? 0) > (grants?.names.length ?? 0) ? ' and more' : ''
  const ofGrants = `${grants?.count ?? 0} grants${names === '' ? '' : `: ${names}${more}`}`
  if (dryRun)
    return [
      `would halt ${targetText(value.target)}: ${tokens?.left ?? 0} live tokens would be revoked; no token any more under ${ofGrants}`,
      ...(ends === undefined ? [] : [endsText(ends)]),
    ].join('\n')
  const left = (tokens?.left ?? 0) > 0 ? `; ${tokens?.left} are left: ${value.message}` : ''
  return [
    `halted ${targetText(value.target)}: ${tokens?.revoked ?? 0} tokens revoked${left}`,
    `no token any more under ${ofGrants}`,
    `lift it with: sekisho resume ${value.name} -n ${value.namespace} --reason TEXT`,
  ].join('\n')
}

/** Lifts a Halt; the platform records it and deletes the object. */
export async function resume(
  context: ClusterContext,
  options: { readonly output: ClusterFormat; readonly reason: string; readonly dryRun?: boolean; readonly platform?: boolean },
  name: string,
): Promise<void> {
  const cluster = placed(context.cluster, options)
  const { client, namespace } = cluster
  const before = await found(cluster, halts, name)
  const { user: by } = await whoIs(cluster)
  const patch = { spec: { lifted: { by, reason: options.reason } } }
  const dryRun = options.dryRun === true
  const after = await client.mergePatch(halts, { namespace, name }, patch, { fieldManager, dryRun })
  if (after === undefined) return absent(cluster, halts, name)
  const text = () =>
    `lifted ${targetText(before.spec.target)}, which ${before.spec.requestedBy} halted: ${before.spec.reason}${dryRun ? ' (dry run)' : ''}`
  await present(context.terminal, options.output, { value: resultOf(after), text })
}

/** Those that stand, in the namespace and, for who may read them, those of the platform. */
export async function haltsList(
  context: ClusterContext,
  options: { readonly output: ClusterFormat; readonly platform?: boolean; readonly allNamespaces?: boolean },
): Promise<void> {
  const { client, namespace } = placed(context.cluster, options)
  const own = await client.list(halts, options.allNamespaces === true ? {} : { namespace })
  const ofPlatform = options.allNamespaces === true || namespace === platformNamespace ? [] : await readable(client)
  const all = [...ofPlatform, ...own].map(resultOf)
  const rows = all.map(({ name, namespace: where, target, tokens, state, requestedBy, createdAt, reason }) => [
    `${where}/${name}`,
    targetText(target),
    state,
    String(tokens?.left ?? '-'),
    age(createdAt, context.clock.now()),
    requestedBy,
    reason,
  ])
  const text = () => (rows.length === 0 ? 'nothing is halted' : table(['HALT', 'OF', 'STATE', 'LEFT', 'AGE', 'BY', 'WHY'], rows))
  await present(context.terminal, options.output, { value: all, text })
}

async function readable(client: Cluster['client']): Promise<readonly Halt[]> {
  try {
    return await client.list(halts, { namespace: platformNamespace })
  } catch (error) {
    // Admins of a tenant may not read those of the platform; what is refused because of one names it.
    if (isKubeError(error, 403)) return []
    throw error
  }
}
