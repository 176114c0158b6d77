// What keeps a node from being drained, and deletions that take years: disruption budgets that allow no disruption, and grace
// periods that whoever deletes a pod names. Pods of others are not deleted at all, not even by a process of the platform that
// was taken over.
import { neighbourNamespace, tenantNamespace } from '../../demo/context.ts'
import { deploymentsOf, runningMode } from '../../up/mode.ts'
import type { Attack, Attempt } from '../attack.ts'
import { type ApiAttempt, apiAttempts, corePath, groupPath } from '../cluster/api-attempts.ts'
import { judgeApi } from '../judge.ts'
import { unclear } from '../verdict.ts'
import { serviceAccountToken } from '../world/actors.ts'
import { platformNamespace } from '../world/targets.ts'
import type { World } from '../world/world.ts'

type Fields = Readonly<Record<string, unknown>>

const budgets = groupPath('policy/v1', neighbourNamespace, 'poddisruptionbudgets')
const always = { unhealthyPodEvictionPolicy: 'AlwaysAllow' }

const blocking: readonly (readonly [string, Fields])[] = [
  ['no pod may be disrupted', { maxUnavailable: 0, ...always }],
  ['0% may be disrupted', { maxUnavailable: '0%', ...always }],
  ['00% may be disrupted', { maxUnavailable: '00%', ...always }],
  ['one pod must be available', { minAvailable: 1, ...always }],
  ['all pods must be available', { minAvailable: '100%', ...always }],
  ['1% must be available, which is rounded up', { minAvailable: '1%', ...always }],
  ['pods that never become ready use up the budget', { maxUnavailable: 1 }],
  ['pods that are not ready are kept, too', { maxUnavailable: 1, unhealthyPodEvictionPolicy: 'IfHealthyBudget' }],
  ['neither number is given', always],
]

function budgetAttempts(world: World): readonly Attempt[] {
  return apiAttempts(
    world,
    blocking.map(
      ([what, spec]): ApiAttempt => ({
        as: 'gary',
        method: 'POST',
        path: budgets,
        json: {
          apiVersion: 'policy/v1',
          kind: 'PodDisruptionBudget',
          metadata: { name: 'attack-drain' },
          spec: { selector: {}, ...spec },
        },
        name: `PodDisruptionBudget by which ${what}`,
        dry: true,
      }),
    ),
  )
}

const late = [3601, 2 ** 31, Number.MAX_SAFE_INTEGER]

type PodList = { readonly items: readonly { readonly metadata: { readonly name: string } }[] }

/** A pod of globex’s site. Every deletion is a dry run. */
async function ownPod(world: World): Promise<string> {
  await world.ownImage()
  const { items } = (await world.admin.call(
    'GET',
    `${corePath(neighbourNamespace, 'pods')}?labelSelector=sekisho.dev/application%3Dsite`,
  )) as PodList
  const name = items[0]?.metadata.name
  if (name === undefined) throw new Error('control: globex has no pod of its site')
  return `${corePath(neighbourNamespace, 'pods')}/${name}`
}

async function lateDeletions(world: World): Promise<readonly Attempt[]> {
  const pod = await ownPod(world)
  // A DELETE with a body is a dry run by its body alone.
  const options = (gracePeriodSeconds: number): object => ({
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    gracePeriodSeconds,
    dryRun: ['All'],
  })
  return apiAttempts(
    world,
    late.flatMap((seconds): readonly ApiAttempt[] => [
      { as: 'gary', method: 'DELETE', path: `${pod}?gracePeriodSeconds=${seconds}`, dry: true },
      {
        as: 'gary',
        method: 'DELETE',
        path: pod,
        json: options(seconds),
        name: `DELETE of his own pod with ${seconds} s in the body`,
        dry: true,
      },
    ]),
  )
}

/** The ways in which a pod ends before its time. */
const hasty: readonly (readonly [string, number])[] = [
  ['at once', 0],
  ['in a second (-1)', -1],
]

function foreignDeletions(world: World): readonly Attempt[] {
  const { name } = world.targets.victim.pod
  const pods = corePath(tenantNamespace, 'pods')
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace: tenantNamespace } }
  return apiAttempts(
    world,
    (['gary', 'workload', 'mia'] as const).flatMap(as => [
      ...hasty.flatMap(([what, seconds]): readonly ApiAttempt[] => [
        { as, method: 'DELETE', path: `${pods}/${name}?gracePeriodSeconds=${seconds}`, name: `end a pod of acme ${what}` },
        { as, method: 'DELETE', path: `${pods}?gracePeriodSeconds=${seconds}`, name: `end all pods of acme ${what}` },
      ]),
      {
        as,
        method: 'POST',
        path: `${pods}/${name}/eviction`,
        json: { ...eviction, deleteOptions: { gracePeriodSeconds: 0, dryRun: ['All'] } },
        name: 'evict a pod of acme',
      },
    ]),
  )
}

/** The ServiceAccounts of the platform's processes have the names of their Deployments. */
async function processesOf({ admin }: World): Promise<readonly string[]> {
  const mode = await runningMode(admin)
  if (mode === undefined) throw new Error('the platform is not installed')
  return deploymentsOf[mode]
}

/**
 * With the ServiceAccount token of a process of the platform: the administrator issues it, as whoever took the process over has
 * it.
 */
function takenOver(world: World, account: string): readonly Attempt[] {
  const { name } = world.targets.victim.pod
  const target = `${corePath(tenantNamespace, 'pods')}/${name}`
  return hasty.map(([what, seconds]) => ({
    name: `${account}: end a running pod of acme ${what}`,
    async run() {
      const token = await serviceAccountToken(world.admin, { namespace: platformNamespace, name: account })
      if ((await world.admin.request('GET', target)).status !== 200) return unclear('control: the pod of acme is gone')
      const url = `${world.targets.apiServer}${target}?gracePeriodSeconds=${seconds}&dryRun=All`
      return judgeApi(await world.http.send(url, { method: 'DELETE', headers: { authorization: `Bearer ${token}` } }))
    },
  }))
}

export const drainAttacks: readonly Attack[] = [
  {
    name: 'ends/drains',
    as: 'gary, admin of globex',
    against: 'whoever drains a node',
    tries: 'PodDisruptionBudgets that never allow a disruption, in each of their spellings.',
    expected: ['admission', 'schema'],
    attempts: budgetAttempts,
  },
  {
    name: 'ends/late-deletions',
    as: 'gary, admin of globex',
    against: 'the end of his namespace',
    tries: 'Deletes his own pods in an hour, in 68 years and later, by the query and by the body.',
    expected: ['admission'],
    attempts: lateDeletions,
  },
  {
    name: 'ends/pods-of-others',
    as: 'gary, his workload, a viewer of acme, and a process of the platform that was taken over',
    against: 'running pods of acme',
    tries: 'Deletes and evicts them, at once and with the grace period -1.',
    expected: ['RBAC', 'admission'],
    attempts: async world => [
      ...foreignDeletions(world),
      ...(await processesOf(world)).flatMap(account => takenOver(world, account)),
    ],
  },
]
