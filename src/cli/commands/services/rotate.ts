// `sekisho services rotate`: other credentials now, for example because somebody printed one. Waits until they are delivered.
import type { ServiceBinding } from '../../../api/services/service-binding.ts'
import { AppError } from '../../../lib/errors.ts'
import { absent, fieldManager } from '../../kubernetes/cluster.ts'
import { serviceBindings } from '../../kubernetes/kinds.ts'
import { didYouMean } from '../../kubernetes/similar-names.ts'
import { settled } from '../../kubernetes/until.ts'
import { type ClusterFormat, CommandEnded, exitCodes, present } from '../../output.ts'
import type { ClusterContext } from '../cluster-context.ts'
import { isDecided } from './create.ts'
import { type Credential, credentialOf, endText } from './credentials.ts'
import { type AnyService, bindingsOf, namedService } from './service-kinds.ts'

type Options = {
  readonly output: ClusterFormat
  readonly dryRun?: boolean
  readonly application?: string
  readonly wait?: boolean
}

/** A credential is replaced at the earliest a minute after it was issued. */
const waitMilliseconds = 150_000

/** Those of the service, or of one Application. Throws `not_found`, with those that exist. */
export function chosenBindings(
  all: readonly ServiceBinding[],
  service: AnyService,
  application: string | undefined,
): readonly ServiceBinding[] {
  const { kind, service: object } = service
  const { name } = object.metadata
  const own = bindingsOf(all, service).filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  const owners = [...new Set(own.flatMap(one => credentialOf(one).application ?? []))]
  const chosen = application === undefined ? own : own.filter(one => credentialOf(one).application === application)
  if (chosen.length > 0) return chosen
  if (application === undefined) throw new AppError('not_found', `${kind.noun} ${name} has no credential: no Application uses it`)
  const there = owners.length === 0 ? 'no Application has' : `${owners.join(', ')} ${owners.length === 1 ? 'has' : 'have'}`
  throw new AppError(
    'not_found',
    `Application ${application} has no credential of ${name}; ${there}${didYouMean(application, owners)}`,
  )
}

/** Later than each credential that there is, also where the clock of this computer is late. */
export function rotationTime(bindings: readonly ServiceBinding[], now: Date): string {
  const issued = bindings.flatMap(({ status }) => status?.slots ?? []).map(({ issuedAt }) => Date.parse(issuedAt) + 1)
  return new Date(Math.max(now.getTime(), ...issued)).toISOString()
}

const versionOf = ({ status }: ServiceBinding): number => status?.version ?? 0

type Rotated = { readonly before: ServiceBinding; readonly after: ServiceBinding }

const isReplaced = ({ before, after }: Rotated): boolean => versionOf(after) > versionOf(before)

function rowOf(rotated: Rotated) {
  const credential = credentialOf(rotated.after)
  return { ...credential, from: rotated.before.status?.version ?? null, replaced: isReplaced(rotated) }
}

/** Both are taken until the former one has ended: with its overlap; of a database also as soon as nobody is connected by it. */
function waitText({ slots, ready, reason, message }: Credential, now: Date): string {
  const draining = slots.find(({ state }) => state === 'Draining')
  if (!ready) return `not replaced yet (${reason}): ${message}`
  if (draining === undefined) return 'not replaced yet: the platform goes on by itself'
  return `not replaced yet: a credential that was replaced before has not ended, and ${endText(draining.until, now)}; then the platform goes on by itself`
}

function rotatedText(row: ReturnType<typeof rowOf>, now: Date): string {
  const whose = row.application === null ? '' : ` of ${row.application}`
  if (!row.replaced) return `${row.binding}${whose}: ${waitText(row, now)}`
  const former = row.slots.find(({ state }) => state === 'Draining')
  const end = former === undefined ? '' : `; the former one ${endText(former.until, now)}`
  const pods = row.application === null ? 'pods of your own need a restart' : 'its pods are replaced with it, one after the other'
  return `${row.binding}${whose}: version ${row.version} is delivered; ${pods}${end}`
}

async function rotateOne(
  { cluster }: ClusterContext,
  before: ServiceBinding,
  rotate: string,
  dryRun: boolean,
): Promise<ServiceBinding> {
  const key = { name: before.metadata.name, namespace: cluster.namespace }
  const written = await cluster.client.mergePatch(serviceBindings, key, { spec: { rotate } }, { fieldManager, dryRun })
  return written ?? absent(cluster, serviceBindings, key.name)
}

/** Ends with code 1 when one was not delivered within a minute; without `--wait` it only asks for it. */
export async function servicesRotate(context: ClusterContext, options: Options, name: string): Promise<void> {
  const { cluster, terminal, clock } = context
  const { client, namespace } = cluster
  const dryRun = options.dryRun === true
  const waits = options.wait !== false && !dryRun
  const service = await namedService(cluster, name)
  const chosen = chosenBindings(await client.list(serviceBindings, { namespace }), service, options.application)
  const rotate = rotationTime(chosen, clock.now())
  // All are asked for before the first is waited for.
  const asked = await Promise.all(
    chosen.map(async before => ({ before, after: await rotateOne(context, before, rotate, dryRun) })),
  )
  const isDone = (before: ServiceBinding) => (after: ServiceBinding) =>
    isReplaced({ before, after }) || (isDecided(after) && credentialOf(after).ready === false)
  const rotated = await Promise.all(
    asked.map(async ({ before, after }) => {
      if (!waits) return { before, after }
      const watched = { client, clock, type: serviceBindings, milliseconds: waitMilliseconds, isDone: isDone(before) }
      return { before, after: await settled({ ...watched, object: after }) }
    }),
  )
  const rows = rotated.map(rowOf)
  const value = { service: name, rotate, dryRun, credentials: rows }
  const said = (): string => {
    if (dryRun) return rows.map(({ binding }) => `${binding} would be replaced (dry run)`).join('\n')
    if (!waits)
      return `${rows.map(({ binding }) => binding).join(', ')}: another credential is asked for; sekisho services info ${name} shows it`
    return rows.map(row => rotatedText(row, clock.now())).join('\n')
  }
  await present(terminal, options.output, { value, text: said })
  if (waits && rows.some(({ replaced }) => !replaced)) throw new CommandEnded(exitCodes.failed)
}
