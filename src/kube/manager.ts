// Connects caches, controllers and the lease, and owns the order of start (caches, then controllers on the leader) and stop (no
// new keys, drain, release the lease, end the watches). Followers serve from their caches; only the leader reconciles and
// writes through `client`.
import { randomUUID } from 'node:crypto'
import type { KubeObject, ResourceType } from '../api/resource.ts'
import { endsWithin } from '../lib/clock.ts'
import { AppError } from '../lib/errors.ts'
import { type CachesDeps, createCaches } from './cache/caches.ts'
import type { Cache, CacheScope } from './cache/object-cache.ts'
import type { KubeClient } from './client/client.ts'
import { NotLeaderError } from './client/errors.ts'
import { gateWrites } from './client/write-gate.ts'
import type { ControllerDefinition } from './controller/controller.ts'
import { type ControllerRunner, createControllerRunner } from './controller/controller-runner.ts'
import { createLeaseHolder, type LeaseHolder, type LeaseTimes } from './lease/lease.ts'

export type { Cache } from './cache/object-cache.ts'

export type Manager = {
  /** One shared cache per kind and scope. Call before `start` where possible; a later cache fills on its own. */
  readonly cache: <T extends KubeObject>(type: ResourceType<T>, scope?: CacheScope) => Cache<T>
  /** Call before `start`. */
  readonly add: (controller: ControllerDefinition) => void
  /** Resolves when caches are synced and controllers run; with leader election, they run once this process is the leader. */
  readonly start: () => Promise<void>
  /** Resolves within 30 s whatever the controllers do. May be called twice, and before `start` has resolved. */
  readonly stop: () => Promise<void>
  /** True on leaders and followers when caches are synced and nothing is stopping. */
  readonly ready: () => boolean
  /** Without leader election: true while running. */
  readonly isLeader: () => boolean
  /** The client for controllers: writes reject with NotLeaderError while this process is not the leader. */
  readonly client: KubeClient
}

export type LeaderElectionOptions = {
  readonly namespace: string
  /** The Lease's name: one per group of replicas. */
  readonly name: string
  /** For people, such as the pod's name; a unique suffix is added. */
  readonly identity: string
  readonly times?: LeaseTimes
}

export type ManagerDeps = CachesDeps & {
  readonly client: KubeClient
  readonly leaderElection?: LeaderElectionOptions
  /** How long `start` waits for the first lists. Default 120 000. */
  readonly syncMilliseconds?: number
}

// In sum less than the 30 s that a pod has between SIGTERM and SIGKILL.
const drainMilliseconds = 18_000
const abortMilliseconds = 7000
const releaseMilliseconds = 4000

/** A manager without controllers; nothing runs before `start`. */
export function createManager(deps: ManagerDeps): Manager {
  const { clock, log, leaderElection } = deps
  const caches = createCaches(deps)
  const runners = new Map<string, ControllerRunner>()
  const leaseRun = new AbortController()
  // Aborts writes in progress when the lease is lost.
  let term = new AbortController()
  let phase: 'new' | 'starting' | 'running' | 'stopping' | 'stopped' = 'new'
  let electing: Promise<void> | undefined
  let stopped: Promise<void> | undefined

  const lease = leaderElection && leaseHolder(deps, leaderElection, lead)
  const isLeader = (): boolean => (lease === undefined ? phase === 'running' || phase === 'stopping' : lease.isLeader())

  function lead(leads: boolean): void {
    deps.metrics?.leading(leads)
    if (leads) term = new AbortController()
    else term.abort(new NotLeaderError('a write in progress'))
    for (const runner of runners.values()) {
      if (!leads) {
        // Not awaited: the keys of reconciles in progress stay taken, so a later term cannot run them twice.
        void runner.end()
        runner.abort()
      } else if (phase === 'running') runner.begin()
    }
  }

  async function drain(): Promise<void> {
    const idle = Promise.all(runners.values().map(runner => runner.end()))
    if (await endsWithin(clock, drainMilliseconds, idle)) return
    log.info({}, 'aborting reconciles that are still in progress')
    for (const runner of runners.values()) runner.abort()
    if (!(await endsWithin(clock, abortMilliseconds, idle))) log.error({}, 'some reconciles did not end')
  }

  async function shutDown(): Promise<void> {
    await drain()
    for (const runner of runners.values()) runner.close()
    leaseRun.abort()
    const released = Promise.resolve(electing).then(() => lease?.release())
    if (!(await endsWithin(clock, releaseMilliseconds, released))) log.error({}, 'failed to release the lease; it will expire')
    phase = 'stopped'
    if (lease === undefined) lead(false)
    await caches.stop()
  }

  return {
    client: gateWrites(deps.client, () => ({ mayWrite: isLeader, signal: term.signal })),
    cache: (type, scope) => caches.of(type, scope),
    add(definition) {
      const { name } = definition
      if (phase !== 'new') throw new AppError('internal', `controller ${name} was added after the start`)
      if (runners.has(name)) throw new AppError('internal', `there are two controllers ${name}`)
      const runner = createControllerRunner(definition, { ...deps, objects: caches.of(definition.for) })
      runner.attach(caches)
      runners.set(name, runner)
    },
    async start() {
      if (phase !== 'new') throw new AppError('internal', 'the manager was started twice')
      phase = 'starting'
      caches.start()
      await caches.synced(deps.syncMilliseconds ?? 120_000)
      // `stop` may have been called during the first lists.
      if (stopped !== undefined) return
      phase = 'running'
      if (lease === undefined) lead(true)
      else electing = lease.run(leaseRun.signal)
      log.info({ controllers: [...runners.keys()] }, 'manager started')
    },
    stop() {
      phase = 'stopping'
      stopped ??= shutDown()
      return stopped
    },
    ready: () => phase === 'running' && caches.allSynced(),
    isLeader,
  }
}

function leaseHolder(deps: ManagerDeps, options: LeaderElectionOptions, onChange: (leads: boolean) => void): LeaseHolder {
  const { namespace, name, times } = options
  const identity = `${options.identity}_${randomUUID()}`
  return createLeaseHolder({ ...deps, key: { namespace, name }, identity, onChange, ...(times && { times }) })
}
