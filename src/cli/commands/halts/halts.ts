// `sekisho halt`, `sekisho resume` and `sekisho halts`: a stop that holds, by the kind Halt of the Kubernetes API, with the
// rights of the person.
import { shortActor } from '../../../api/audit/actor-text.ts'
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
import { type EndsOfPerson, readEndsOfPerson } from './ends-of-person.ts'
import { dryRunText, haltedText, liftedText, targetText } from './halt-text.ts'
import { readKnown, type Target, type TargetWord, targetOf } from './target.ts'

type Options = {
  readonly output: ClusterFormat
  readonly reason?: string
  readonly dryRun?: boolean
  readonly tokenStdin?: boolean
  readonly scaleToZero?: boolean
  readonly platform?: boolean
}

/** Revoking goes on without the command; this is how long it waits to say how far it came. */
const waitMilliseconds = 30_000

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
    reason: reasonOf(options),
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
  await present(terminal, options.output, {
    value: all,
    text: () => (options.dryRun === true ? dryRunText(value, ends) : haltedText(value)),
  })
}

/** A dry run ends nothing, so that nobody has to say why. */
function reasonOf({ reason, dryRun }: Options): string {
  if (reason !== undefined) return reason
  if (dryRun === true) return 'a dry run'
  throw new AppError('invalid_request', 'say why with --reason TEXT: it is recorded, and shown to whom it concerns')
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
  const text = () => liftedText(before.spec, dryRun)
  await present(context.terminal, options.output, { value: resultOf(after), text })
}

/** Those that stand, in the namespace and, for who may read them, those of the platform; no dry runs, which end nothing. */
export async function haltsList(
  context: ClusterContext,
  options: { readonly output: ClusterFormat; readonly platform?: boolean; readonly allNamespaces?: boolean },
): Promise<void> {
  const { client, namespace } = placed(context.cluster, options)
  const own = await client.list(halts, options.allNamespaces === true ? {} : { namespace })
  const ofPlatform = options.allNamespaces === true || namespace === platformNamespace ? [] : await readable(client)
  const all = [...ofPlatform, ...own].map(resultOf).filter(({ dryRun }) => !dryRun)
  const rows = all.map(({ name, namespace: where, target, tokens, state, requestedBy, createdAt, reason }) => [
    `${where}/${name}`,
    targetText(target),
    state,
    String(tokens?.left ?? '-'),
    age(createdAt, context.clock.now()),
    shortActor(requestedBy ?? ''),
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
