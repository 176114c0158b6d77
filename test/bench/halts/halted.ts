// A Halt as a platform admin makes it, its end, and how long each took.
import type { Halt } from '../../../src/api/github/halt.ts'
import { platformNamespace } from '../../../src/api/names.ts'
import { limits } from '../../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import type { World } from './world.ts'

export type Target = Halt['spec']['target']
type Status = NonNullable<Halt['status']>
type Tokens = NonNullable<Status['tokens']>

const path = `/apis/github.sekisho.dev/v1alpha1/namespaces/${platformNamespace}/halts`

function until<T>({ platform }: World, what: string, check: () => Promise<T | undefined>, signal: AbortSignal): Promise<T> {
  return waitUntil(what, check, {
    timeoutMilliseconds: limits.build,
    everyMilliseconds: 20,
    hopeless: async () => platform.ended() ?? (signal.aborted ? 'the time is over' : undefined),
  })
}

export type Halted = {
  readonly name: string
  /** Until its status said that no token is left. */
  readonly seconds: number
  readonly status: { readonly tokens: Tokens }
}

export async function halted(world: World, target: Target, signal: AbortSignal): Promise<Halted> {
  const { admin } = world.platform
  const started = performance.now()
  const made = (await admin.call('POST', path, {
    apiVersion: 'github.sekisho.dev/v1alpha1',
    kind: 'Halt',
    metadata: { generateName: 'bench-' },
    spec: { target, reason: 'a bench measures how long it takes' },
  })) as Halt
  const { name } = made.metadata
  const tokens = await until(
    world,
    `Halt ${name} to leave no token`,
    async () => {
      const { status } = (await admin.call('GET', `${path}/${name}`)) as Halt
      const isEnforced = status?.conditions?.some(({ type, reason }) => type === 'Ready' && reason === 'Enforced')
      return isEnforced && status?.tokens?.left === 0 ? status.tokens : undefined
    },
    signal,
  )
  return { name, seconds: (performance.now() - started) / 1000, status: { tokens } }
}

/** Resolves when it is gone. */
export async function lifted(world: World, name: string, signal: AbortSignal): Promise<void> {
  const { admin } = world.platform
  const { spec } = (await admin.call('GET', `${path}/${name}`)) as Halt
  const lift = { spec: { lifted: { by: spec.requestedBy, reason: 'measured' } } }
  await admin.call('PATCH', `${path}/${name}`, lift, 'application/merge-patch+json')
  await until(
    world,
    `Halt ${name} to be gone`,
    async () => ((await admin.request('GET', `${path}/${name}`)).status === 404 ? true : undefined),
    signal,
  )
}
