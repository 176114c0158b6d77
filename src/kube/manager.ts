// Puts caches, controllers and the lease together and owns the order in which they start and stop: caches, then (on the leader)
// controllers; stop: no new keys, drain, release the lease, close the watches. It knows no kind and no business.
// Followers keep their caches and serve from them; only the leader reconciles, and only the leader's writes pass `client`.
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
  /** One shared local copy per kind and scope. Ask before `start` where possible; later ones fill by themselves. */
  readonly cache: <T extends KubeObject>(type: ResourceType<T>, scope?: CacheScope) => Cache<T>
  /** Before `start`. */
  readonly add: (controller: ControllerDefinition) => void
  /** Resolves when caches are synced and controllers run; with leader election: run as soon as this process leads. */
  readonly start: () => Promise<void>
  /** Ends within 30 s whatever the controllers do. May be called twice and before `start` has resolved. */
  readonly stop: () => Promise<void>
  /** Caches are synced and nothing is stopping; leader and follower alike. */
  readonly ready: () => boolean
  /** True without leader election, while running. */
  readonly isLeader: () => boolean
  /** The client for controllers: writes reject with NotLeaderError while this process does not lead. */
  readonly client: KubeClient
}

export type LeaderElectionOptions = {
  readonly namespace: string
  /** The Lease's name: one per group of replicas. */
  readonly name: string
  /** For people, such as the pod's name; made unique here. */
  readonly identity: string
  readonly times?: LeaseTimes
}

export type ManagerDeps = CachesDeps & {
  readonly client: KubeClient
  readonly leaderElection?: LeaderElectionOptions
  /** Default 120 000. */
  readonly syncMilliseconds?: number
}

// In all less than the 30 s that a pod has between SIGTERM and SIGKILL.
const drainMilliseconds = 18_000
const abortMilliseconds = 7000
const releaseMilliseconds = 4000

export function createManager(deps: ManagerDeps): Manager {
  const { clock, log, leaderElection: election } = deps
  const caches = createCaches(deps)
  const runners: ControllerRunner[] = []
  const names = new Set<string>()
  const electing = new AbortController()
  // Ends writes that are on their way when the lease is lost.
  let term = new AbortController()
  let phase: 'new' | 'starting' | 'running' | 'stopping' | 'stopped' = 'new'
  let striving: Promise<void> | undefined
  let stopped: Promise<void> | undefined

  const lease: LeaseHolder | undefined =
    election &&
    createLeaseHolder({
      ...deps,
      key: { namespace: election.namespace, name: election.name },
      identity: `${election.identity}_${randomUUID()}`,
      onChange: lead,
      ...(election.times === undefined ? {} : { times: election.times }),
    })
  const isLeader = (): boolean => (lease === undefined ? phase === 'running' || phase === 'stopping' : lease.isLeader())

  function lead(leads: boolean): void {
    deps.metrics?.leading(leads)
    if (leads) term = new AbortController()
    else term.abort(new NotLeaderError('a write on its way'))
    for (const runner of runners) {
      if (!leads) {
        // Not awaited: keys of what still runs stay taken, so a later term cannot run them twice.
        void runner.end()
        runner.abort()
      } else if (phase === 'running') runner.begin()
    }
  }

  async function drain(): Promise<void> {
    const idle = Promise.all(runners.map(runner => runner.end()))
    if (await endsWithin(clock, drainMilliseconds, idle)) return
    log.info({}, 'some reconciles are still running: telling them to stop')
    for (const runner of runners) runner.abort()
    if (!(await endsWithin(clock, abortMilliseconds, idle))) log.error({}, 'some reconciles did not end and are left behind')
  }

  async function shutDown(): Promise<void> {
    await drain()
    for (const runner of runners) runner.close()
    electing.abort()
    const released = Promise.resolve(striving).then(() => lease?.release())
    if (!(await endsWithin(clock, releaseMilliseconds, released))) log.error({}, 'the lease was not released; it ends by itself')
    phase = 'stopped'
    if (lease === undefined) lead(false)
    await caches.stop()
  }

  return {
    client: gateWrites(deps.client, () => ({ mayWrite: isLeader, signal: term.signal })),
    cache: (type, scope) => caches.of(type, scope),
    add(definition) {
      if (phase !== 'new') throw new AppError('internal', `controller ${definition.name} was added after the start`)
      if (names.has(definition.name)) throw new AppError('internal', `there are two controllers ${definition.name}`)
      names.add(definition.name)
      const runner = createControllerRunner(definition, { ...deps, objects: caches.of(definition.for) })
      runner.attach(caches)
      runners.push(runner)
    },
    async start() {
      if (phase !== 'new') throw new AppError('internal', 'the manager was started twice')
      phase = 'starting'
      caches.start()
      await caches.synced(deps.syncMilliseconds ?? 120_000)
      // `stop` may have come while the lists were on their way.
      if (stopped !== undefined) return
      phase = 'running'
      if (lease === undefined) lead(true)
      else striving = lease.run(electing.signal)
      log.info({ controllers: [...names] }, 'the manager runs')
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
