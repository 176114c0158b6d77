// Finds out, again and again, whether the walls between tenants still stand, and says so: in the record from which the
// conditions of Tenants are made, in a metric, in an Event and in the log. A defence that somebody switched off looks from inside
// like one that holds, so what stands is compared and tried. It never repairs: whoever may write policies may write everything.
import { type ConfigMap, configMaps, type Namespace, type NetworkPolicy } from '../../api/builtin/index.ts'
import { buildNamespaceOf } from '../../api/names.ts'
import type { KubeObject } from '../../api/resource.ts'
import type { Tenant } from '../../api/tenancy/tenant.ts'
import { wallRecord } from '../../api/wall-names.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import type { EventRecorder } from '../../kube/object/events.ts'
import type { Clock } from '../../lib/clock.ts'
import { messageOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { type Periodic, periodic } from '../../lib/periodic.ts'
import { compareAdmission } from './admission/compare-admission.ts'
import { readShipped, type ShippedObject, wallOfKind } from './admission/shipped.ts'
import { attemptsIn, clusterAttempts } from './attempts.ts'
import { type Finding, findingText, judgeRound, type Round, type UnknownRounds, wallsOff } from './finding.ts'
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
  readonly clock: Pick<Clock, 'sleep' | 'now'>
  readonly log: Pick<Log, 'info' | 'error'>
  /** For tests; default the files of deploy/policies. */
  readonly shipped?: () => Promise<readonly ShippedObject[]>
}

export type WallProbe = Pick<Periodic, 'start' | 'stop' | 'wake'> & {
  /** What the last round of this replica found, while it leads. */
  readonly known: () => Known | undefined
}

const fieldManager = 'sekisho.dev/wall-probe'
/** Whose namespaces are tried in a round, beside some of those where a wall was off: RBAC and policies are mostly alike. */
const tenantsPerRound = 5

// Memory (walls that are not known): wall → rounds in a row in which it could not be looked at
//   life: until a round finds out
//   bound: one for each wall
//   freshness: the next round
//   replicas: leader only; the next counts from one
/** A loop that runs nothing before `start`; only on the leader. */
export function createWallProbe(deps: WallProbeDeps): WallProbe {
  const { clock, log, isLeader } = deps
  let unknownRounds: UnknownRounds = new Map()
  let shipped: readonly ShippedObject[] | undefined
  let turn = 0
  let known: Known | undefined

  const compared = async (): Promise<Round> => {
    try {
      shipped ??= await (deps.shipped ?? readShipped)()
      return await compareAdmission(deps.client, shipped)
    } catch (error) {
      const walls = new Set<WallName>(Object.values(wallOfKind))
      const text = `the policies of this version cannot be read: ${messageOf(error)}`
      return { looked: [], findings: [...walls].map((wall): Finding => ({ wall, verdict: 'Unknown', text })) }
    }
  }

  return {
    ...periodic({
      name: 'probe of the walls',
      everyMilliseconds: deps.everyMilliseconds,
      // Policies and the processes of a new version do not change at the same moment.
      waitsFirst: true,
      enabled: isLeader,
      clock,
      log,
      async work(signal) {
        const before = recordedWalls(deps.records.get(wallRecord))?.findings ?? []
        const all = deps.tenants.list()
        const tenants = all.filter(isLookedAt)
        const chosen = tenantsToTry(tenants, before, turn++)
        const rounds = [
          await compared(),
          lookAtNamespaces({
            tenants,
            namespaceOf: name => deps.namespaces.get({ name }),
            policiesIn: namespace => deps.policies.list(namespace),
            buildsDockerfiles: deps.buildsDockerfiles,
          }),
          await tryWalls(deps, [...clusterAttempts, ...chosen.flatMap(attemptsIn)], signal),
        ]
        if (signal.aborted) return
        const namespaces = new Set(all.flatMap(({ spec: { namespace } }) => [namespace, buildNamespaceOf(namespace)]))
        const exists = (namespace: string): boolean => namespaces.has(namespace)
        const judgement = judgeRound({ findings: before, unknownRounds, exists }, together(rounds))
        unknownRounds = judgement.unknownRounds
        await report(deps, before, judgement.findings)
        // What could not be recorded is not known: the condition of Tenants is from the record.
        known = { findings: judgement.findings, more: 0, at: clock.now() }
      },
    }),
    known: () => (isLeader() ? known : undefined),
  }
}

/** Those where a wall was off, and the next ones in turn. */
export function tenantsToTry(tenants: readonly Tenant[], before: readonly Finding[], turn: number): readonly Tenant[] {
  const off = new Set(before.flatMap(({ where = [] }) => where))
  const of = ({ spec: { namespace } }: Tenant): boolean => off.has(namespace) || off.has(`${namespace}-build`)
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
async function report(deps: WallProbeDeps, before: readonly Finding[], findings: readonly Finding[]): Promise<void> {
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
  const { data } = records.get(wallRecord) ?? {}
  if (data?.['findings'] === record.data.findings && data['state'] === record.data.state) return
  await client.apply(configMaps, record, { fieldManager, force: true })
}
