// Bench `push-to-url`: consecutive pushes by a developer on the running platform; the duration of each phase (from .status of
// the RemoteSync, so by the platform's own clock), the time from the end of a build to the first new pod, and the time until
// the URL showed the commit.
import { adminClientFor } from '../../../dev/cluster/control-plane/admin-client.ts'
import { adminKubeconfig, readClusterSettings } from '../../../dev/cluster/settings.ts'
import { applicationName, tenantNamespace } from '../../../dev/demo/context.ts'
import { prepareDemo } from '../../../dev/demo/run.ts'
import { deployedSync, ourPhases, pushShop, urlAnswers } from '../../../dev/demo/scenario/deploy.ts'
import { commandLineLogin } from '../../../dev/demo/scenario/sign-in.ts'
import type { RemoteSync } from '../../../src/api/apps/remote-sync.ts'
import { buildNamespaceOf } from '../../../src/api/names.ts'
import { messageOf } from '../../../src/lib/errors.ts'
import type { Bench, Figure } from '../harness/bench.ts'
import { figureAtMost } from '../harness/goals.ts'
import { percentile } from '../harness/statistics.ts'
import { watchFirstPods } from './first-pods.ts'

const pushes = 20

const otherPhases = [
  ['build', 'buildCreatedAt', 'builtAt'],
  ['rollout', 'deployedAt', 'availableAt'],
] as const

function seconds(sync: RemoteSync, from: string, to: string): number {
  const phases: Readonly<Record<string, string | undefined>> = sync.status?.phases ?? {}
  return (Date.parse(phases[to] ?? '') - Date.parse(phases[from] ?? '')) / 1000
}

function figuresOf(phase: string, values: readonly number[]): readonly Figure[] {
  return [
    { label: `${phase}, p50`, value: percentile(values, 50), unit: 's' },
    { label: `${phase}, p95`, value: percentile(values, 95), unit: 's' },
  ]
}

async function push(count: number, note: (message: string) => void, signal: AbortSignal): Promise<readonly Figure[]> {
  const settings = readClusterSettings()
  const world = await prepareDemo(settings)
  const { dave } = world.people
  await commandLineLogin(world, dave)
  const syncs: RemoteSync[] = []
  const waits: number[] = []
  const podWaits: number[] = []
  const [namespace, buildNamespace] = [tenantNamespace, buildNamespaceOf(tenantNamespace)]
  const kubeconfig = adminKubeconfig(settings)
  const firstPods = await watchFirstPods({ kubeconfig, namespace, buildNamespace, name: applicationName })
  try {
    for (let number = 1; number <= count; number++) {
      signal.throwIfAborted()
      const commit = await pushShop(world, dave, `bench push ${number} of ${count} at ${new Date().toISOString()}`)
      const pushed = performance.now()
      syncs.push(await deployedSync(world, dave, 180))
      await urlAnswers(world, dave)
      waits.push((performance.now() - pushed) / 1000)
      const podWait = firstPods.after(commit)
      if (podWait === undefined) throw new Error(`the first pod of commit ${commit} was not seen`)
      podWaits.push(podWait / 1000)
      note(`push ${number}: ${waits.at(-1)?.toFixed(1)} s; ${podWait.toFixed(0)} ms from the end of the build to the first pod`)
    }
  } finally {
    await firstPods.close()
  }
  const ourShare = syncs.map(sync => ourPhases.reduce((sum, [, from, to]) => sum + seconds(sync, from, to), 0))
  const phases = (all: readonly (readonly [string, string, string])[], whose: string): readonly Figure[] =>
    all.flatMap(([phase, from, to]) =>
      figuresOf(
        `${whose}: ${phase}`,
        syncs.map(sync => seconds(sync, from, to)),
      ),
    )
  return [
    ...phases(ourPhases, 'ours'),
    ...figuresOf('our share', ourShare),
    ...phases(otherPhases, 'other'),
    ...figuresOf('build done to new pods created', podWaits),
    ...figuresOf('push to URL, as the person sees it', waits),
  ]
}

/** The platform must run: this bench acts as a person on it. */
async function obstacle(): Promise<string | undefined> {
  try {
    const admin = await adminClientFor(adminKubeconfig(readClusterSettings()))
    try {
      await admin.call('GET', '/apis/apps.sekisho.dev/v1alpha1/remotesyncs')
    } finally {
      await admin.close()
    }
    return undefined
  } catch (error) {
    return `the platform does not run (${messageOf(error)}); start it with \`make up\``
  }
}

export const pushToUrl: Bench = {
  name: 'push-to-url',
  title: `${pushes} pushes, one after the other, until the URL shows the commit`,
  budgetSeconds: 900,
  obstacle,
  async open({ scale, note }) {
    return {
      comparisons: [],
      measurements: [
        {
          name: 'phases',
          title: 'seconds of each phase of a push',
          run: signal => push(Math.max(1, Math.round(pushes * scale)), note, signal),
          goals: [figureAtMost('our share, p50', 0.3), figureAtMost('build done to new pods created, p95', 0.3)],
        },
      ],
      close: async () => {},
    }
  },
}
