// Finds out, again and again, whether the walls between tenants still stand, and says so: in the record from which the
// conditions of Tenants are made, in a metric, in an Event and in the log. A defence that somebody switched off looks from inside
// like one that holds, so what stands is compared and tried. It never repairs: whoever may write policies may write everything.
import { type ConfigMap, configMaps, type Namespace, type NetworkPolicy } from '../../api/builtin/index.ts'
import { namespacesOf } from '../../api/names.ts'
import type { KubeObject } from '../../api/resource.ts'
import type { Tenant } from '../../api/tenancy/tenant.ts'
import { wallRecord } from '../../api/wall-names.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import type { EventRecorder } from '../../kube/object/events.ts'
import type { Clock } from '../../lib/clock.ts'
import { messageOf } from '../../lib/errors.ts'
import { untilAborted } from '../../lib/limits/until-aborted.ts'
import type { Log } from '../../lib/log.ts'
import { type Periodic, periodic } from '../../lib/periodic.ts'
import type { Labels } from './admission/added-selectors.ts'
import { compareAdmission } from './admission/compare-admission.ts'
import { readShipped, type ShippedObject, wallOfKind } from './admission/shipped.ts'
import { attemptsIn, clusterAttempts, fieldManager } from './attempts.ts'
import { type Finding, findingText, type Judgement, judgeRound, type Round, type UnknownRounds, wallsOff } from './finding.ts'
import type { Known } from './metrics.ts'
import { isLookedAt, lookAtNamespaces } from './namespaces.ts'
import { recordedWalls, recordOf } from './record.ts'
import { type Clients, tryWalls } from './try-walls.ts'
import type { WallName } from './walls.ts'

export type WallProbeDeps = Clients & {
  readonly client: Pick<KubeClient, 'get' | 'list' | 'create' | 'apply'>
  /** The ConfigMaps of the platform's namespace. */
  readonly records: Pick<Cache<ConfigMap>, 'get'>
  readonly tenants: Pick<Cache<Tenant>, 'list'>
  /** The namespaces with the label of a tenant, and the network policies with it. */
  readonly namespaces: Pick<Cache<Namespace>, 'get'>
  readonly policies: Pick<Cache<NetworkPolicy>, 'list'>
  readonly events: Pick<EventRecorder, 'record'>
  readonly buildsDockerfiles: boolean
  readonly isLeader: () => boolean
  readonly everyMilliseconds: number
  /** For tests: after it what was not looked at is not known. Default the time between two rounds, at least half a minute. */
  readonly roundMilliseconds?: number
  readonly clock: Pick<Clock, 'sleep' | 'now'>
  readonly log: Pick<Log, 'info' | 'error'>
  /** For tests; default the files of deploy/policies. */
  readonly shipped?: () => Promise<readonly ShippedObject[]>
}

export type WallProbe = Pick<Periodic, 'start' | 'stop' | 'wake'> & {
  /** What the last round of this replica found, while it leads. */
  readonly known: () => Known | undefined
}

/** Whose namespaces are tried in a round, beside some of those where a wall was off: RBAC and policies are mostly alike. */
const tenantsPerRound = 5
/** Longer than everything that is tried takes on a server that answers. */
const leastRoundMilliseconds = 30_000

// Memory (walls that are not known): wall and place → rounds in a row in which it could not be looked at
//   life: until a round finds out, while the replica leads
//   bound: one for each wall and namespace of a Tenant
//   freshness: the next round that looks there
//   replicas: leader only; the next counts from one
/** A loop that runs nothing before `start`; only on the leader. */
export function createWallProbe(deps: WallProbeDeps): WallProbe {
  const { clock, log, isLeader, buildsDockerfiles } = deps
  const roundMilliseconds = deps.roundMilliseconds ?? Math.max(leastRoundMilliseconds, deps.everyMilliseconds)
  let shipped: readonly ShippedObject[] | undefined
  let turn = 0
  let unknownRounds: UnknownRounds = new Map()
  let known: Known | undefined
  /** What was known while another replica leads is not known any more. */
  const leads = (): boolean => {
    if (isLeader()) return true
    unknownRounds = new Map()
    known = undefined
    return false
  }

  const compared = async (covered: readonly Labels[], signal: AbortSignal): Promise<Round> => {
    try {
      shipped ??= await (deps.shipped ?? readShipped)()
      return await untilAborted(compareAdmission(deps.client, shipped, covered), signal)
    } catch (error) {
      const walls = new Set<WallName>(Object.values(wallOfKind))
      const why = signal.aborted ? 'were not compared: the API server is slow' : `cannot be read: ${messageOf(error)}`
      const text = `the policies of this version ${why}`
      return { looked: [], findings: [...walls].map((wall): Finding => ({ wall, verdict: 'Unknown', text })) }
    }
  }

  /** What is compared and off is said before anything is tried, which may take long. */
  const round = async (signal: AbortSignal): Promise<void> => {
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(roundMilliseconds)])
    const all = deps.tenants.list()
    const tenants = all.filter(isLookedAt)
    const own = new Set(all.flatMap(({ spec }) => namespacesOf(spec.namespace)))
    const record = deps.records.get(wallRecord)
    const before = recordedWalls(record)?.findings ?? []
    const chosen = tenantsToTry(tenants, before, turn++)
    const judge = (found: Round): Judgement =>
      judgeRound({ findings: before, unknownRounds, exists: name => own.has(name) }, found)
    const seen = together([
      await compared(labelsOf(deps, tenants), deadline),
      lookAtNamespaces({
        tenants,
        buildsDockerfiles,
        namespaceOf: name => deps.namespaces.get({ name }),
        policies: Map.groupBy(deps.policies.list(), ({ metadata }) => metadata.namespace ?? ''),
      }),
    ])
    // Nothing counts as holding before the round is whole.
    const early = judge({ looked: [], findings: seen.findings }).findings
    const isEarly = hasNewlyOff(before, early) && !signal.aborted && leads()
    if (isEarly) await report(deps, { before, findings: early, standing: record?.data })
    if (isEarly && known !== undefined) known = { ...known, findings: early }
    const attempts = [...clusterAttempts, ...chosen.flatMap(one => attemptsIn(one, buildsDockerfiles))]
    const tried = await tryWalls(deps, attempts, deadline)
    // Whoever leads now judges by itself.
    if (signal.aborted || !leads()) return
    const judgement = judge(together([seen, tried]))
    unknownRounds = judgement.unknownRounds
    const said = isEarly ? { before: early, standing: recordOf(early).data } : { before, standing: record?.data }
    await report(deps, { ...said, findings: judgement.findings })
    // What could not be recorded is not known: the condition of Tenants is from the record.
    known = { findings: judgement.findings, more: 0, at: clock.now() }
  }

  return {
    ...periodic({
      name: 'probe of the walls',
      everyMilliseconds: deps.everyMilliseconds,
      // Policies and the processes of a new version do not change at the same moment.
      waitsFirst: true,
      enabled: leads,
      clock,
      log,
      work: round,
    }),
    known: () => (leads() ? known : undefined),
  }
}

function hasNewlyOff(before: readonly Finding[], now: readonly Finding[]): boolean {
  const offBefore = wallsOff(before)
  return [...wallsOff(now)].some(([wall, places]) => !places.isSubsetOf(offBefore.get(wall) ?? new Set()))
}

function labelsOf({ namespaces }: WallProbeDeps, tenants: readonly Tenant[]): readonly Labels[] {
  return tenants
    .flatMap(({ spec }) => namespacesOf(spec.namespace))
    .flatMap(name => {
      const found = namespaces.get({ name })
      return found === undefined ? [] : [found.metadata.labels ?? {}]
    })
}

/** Those where a wall was off, and the next ones in turn. */
export function tenantsToTry(tenants: readonly Tenant[], before: readonly Finding[], turn: number): readonly Tenant[] {
  const off = new Set(before.flatMap(({ where = [] }) => where))
  const of = ({ spec }: Tenant): boolean => namespacesOf(spec.namespace).some(name => off.has(name))
  const start = (turn * tenantsPerRound) % Math.max(tenants.length, 1)
  const next = [...tenants.slice(start), ...tenants.slice(0, start)].slice(0, tenantsPerRound)
  return [...new Set([...next, ...tenants.filter(of).slice(0, 4 * tenantsPerRound)])]
}

function together(rounds: readonly Round[]): Round {
  return {
    looked: rounds.flatMap(({ looked }) => looked),
    findings: rounds.flatMap(({ findings }) => findings),
  }
}

/** Says what has changed, then records it: a crash in between says it twice, never not at all. */
async function report(
  deps: WallProbeDeps,
  {
    before,
    findings,
    standing,
  }: Pick<Judgement, 'findings'> & {
    readonly before: readonly Finding[]
    /** The record as it stands. */
    readonly standing: ConfigMap['data'] | undefined
  },
): Promise<void> {
  const { records, client, events, log } = deps
  const record = recordOf(findings)
  const [offBefore, off] = [wallsOff(before), wallsOff(findings)]
  const none: ReadonlySet<string> = new Set()
  const isNew = (wall: WallName): boolean => !(off.get(wall) ?? none).isSubsetOf(offBefore.get(wall) ?? none)
  const changed = [...new Set([...offBefore.keys(), ...off.keys()])].filter(wall => isNew(wall) || !off.has(wall))
  const { apiVersion, kind } = configMaps
  const about: KubeObject = records.get(wallRecord) ?? { apiVersion, kind, metadata: { ...wallRecord } }
  for (const wall of changed) {
    if (off.has(wall)) {
      const message = findings.flatMap(one => (one.wall === wall ? [findingText(one)] : [])).join('; ')
      log.error({ wall }, `A WALL IS OFF: ${message}`)
      events.record(about, { type: 'Warning', reason: 'WallOff', message })
    } else {
      log.info({ wall }, 'a wall holds again')
      events.record(about, { type: 'Normal', reason: 'WallHolds', message: `${wall} holds again` })
    }
  }
  if (standing?.['findings'] === record.data.findings && standing['state'] === record.data.state) return
  await client.apply(configMaps, record, { fieldManager, force: true })
}
