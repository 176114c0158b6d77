// The limiter: a slot is never taken twice, and what is not used goes to the next owner in the queue.
import { describe, expect, test } from 'vitest'
import type { Clock } from '../../../lib/clock.ts'
import type { RunningBuild } from '../builder.ts'
import { createBuildLimiter } from './build-limiter.ts'
import type { QueuedBuild } from './queue.ts'

function build(tenant: string, name: string, since: number): QueuedBuild {
  return { tenant, name, since: new Date(since).toISOString(), tenantLimit: 1 }
}

describe('build limiter with one slot', () => {
  let now = 0
  const clock: Clock = { now: () => new Date(now), sleep: () => Promise.resolve() }
  const options = { clock, platformBuilds: 1 }
  const nothing = { running: () => [], known: () => false }
  const owner = (uid: string, kind = 'RemoteSync') => ({ kind, namespace: uid, name: 'sync', uid })
  const [first, second, third] = [build('a', 'first', 1), build('b', 'second', 2), build('c', 'third', 3)]

  test('two reconciles that both see the last free slot do not both get it', () => {
    const known = new Set<string>()
    const running: RunningBuild[] = []
    const limiter = createBuildLimiter({ running: () => running, known: key => known.has(key.name) }, options)
    expect(limiter.tryAcquire(owner('a'), first)).toEqual({ kind: 'acquired' })
    expect(limiter.tryAcquire(owner('b'), second)).toMatchObject({ kind: 'queued' })
    known.add('first')
    running.push(first)
    expect(limiter.tryAcquire(owner('b'), second)).toMatchObject({ kind: 'queued' })
    expect(limiter.queued('RemoteSync')).toEqual([{ namespace: 'b', name: 'sync' }])
    running.pop()
    expect(limiter.tryAcquire(owner('b'), second)).toEqual({ kind: 'acquired' })
    expect(limiter.queued('RemoteSync')).toEqual([])
  })

  test('a slot that was released, and the place of an owner that left the queue, go to the next', () => {
    const limiter = createBuildLimiter(nothing, options)
    expect(limiter.tryAcquire(owner('a'), first)).toEqual({ kind: 'acquired' })
    expect(limiter.tryAcquire(owner('b'), second)).toMatchObject({ kind: 'queued' })
    expect(limiter.tryAcquire(owner('c'), third)).toMatchObject({ kind: 'queued' })
    limiter.release({ namespace: 'a', name: 'first' })
    expect(limiter.tryAcquire(owner('c'), third)).toMatchObject({ kind: 'queued' })
    limiter.dequeue('b')
    expect(limiter.tryAcquire(owner('c'), third)).toEqual({ kind: 'acquired' })
  })

  test('the slot of a build that was never observed is free again after five minutes', () => {
    const limiter = createBuildLimiter(nothing, options)
    limiter.tryAcquire(owner('a'), first)
    now += 299_999
    expect(limiter.tryAcquire(owner('b'), second)).toMatchObject({ kind: 'queued' })
    now += 1
    expect(limiter.tryAcquire(owner('b'), second)).toEqual({ kind: 'acquired' })
  })

  test('lists the queued owners of one kind', () => {
    const limiter = createBuildLimiter(nothing, options)
    limiter.tryAcquire(owner('a'), first)
    limiter.tryAcquire(owner('b'), second)
    limiter.tryAcquire(owner('c', 'AppPipeline'), third)
    expect(limiter.queued('AppPipeline')).toEqual([{ namespace: 'c', name: 'sync' }])
  })

  test('the slot of an owner that is gone is free at once, whether its build was never seen, has ended or still runs', () => {
    const builds = new Map<string, RunningBuild>()
    const limiter = createBuildLimiter({ running: () => [...builds.values()], known: key => builds.has(key.name) }, options)
    // Acquired, and deleted before a build was created.
    limiter.tryAcquire(owner('a'), first)
    expect(limiter.tryAcquire(owner('b'), second)).toMatchObject({ kind: 'queued' })
    limiter.leave(owner('a'))
    expect(limiter.tryAcquire(owner('b'), second)).toEqual({ kind: 'acquired' })
    // Its build came and went; somebody was told of it, and nobody asked for a slot meanwhile.
    builds.set('second', second)
    limiter.queued('RemoteSync')
    builds.delete('second')
    expect(limiter.tryAcquire(owner('c'), third)).toEqual({ kind: 'acquired' })
  })

  test('an owner that went while it waited does not keep its place, and one that was created again keeps its own', () => {
    const limiter = createBuildLimiter(nothing, options)
    limiter.tryAcquire(owner('a'), first)
    limiter.tryAcquire(owner('b'), second)
    expect(limiter.tryAcquire({ ...owner('b'), uid: 'again' }, third)).toMatchObject({ kind: 'queued' })
    limiter.leave(owner('b'), 'again')
    expect(limiter.queued('RemoteSync')).toEqual([{ namespace: 'b', name: 'sync' }])
    limiter.leave(owner('b'))
    expect(limiter.queued('RemoteSync')).toEqual([])
  })
})

describe('rebases', () => {
  const clock: Clock = { now: () => new Date(0), sleep: () => Promise.resolve() }
  const owner = (uid: string) => ({ kind: 'RemoteSync', namespace: uid, name: 'sync', uid })
  const limiterOf = (platformBuilds: number) => {
    const limiter = createBuildLimiter({ running: () => [], known: () => false }, { clock, platformBuilds })
    const rebase = (tenant: string, uid = tenant) => limiter.tryAcquireRebase(owner(uid), { tenant, name: `rebase-${uid}` })
    const begin = (tenant: string, name: string) => limiter.tryAcquire(owner(name), build(tenant, name, 1)).kind
    return { ...limiter, rebase, begin }
  }

  test('have one slot of a tenant, and half of all', () => {
    const { rebase, release } = limiterOf(4)
    expect([rebase('a'), rebase('a', 'a2'), rebase('b'), rebase('c')]).toEqual([true, false, true, false])
    expect(rebase('a')).toBe(true)
    release({ namespace: 'b', name: 'rebase-b' })
    expect(rebase('c')).toBe(true)
  })

  test.each([1, 2, 3])('have one slot of %i', platformBuilds => {
    const { rebase } = limiterOf(platformBuilds)
    expect([rebase('a'), rebase('b')]).toEqual([true, false])
  })

  test('of a tenant wait while it builds', () => {
    const { rebase, begin } = limiterOf(4)
    expect(begin('a', 'one')).toBe('acquired')
    expect(rebase('a')).toBe(false)
  })

  test('are not stopped by a tenant with builds that wait for its own limit, nor by builds on half of the slots', () => {
    const { rebase, begin } = limiterOf(4)
    expect(['1', '2', '3'].map(name => begin('flood', name))).toEqual(['acquired', 'queued', 'queued'])
    expect(begin('a', 'one')).toBe('acquired')
    expect([rebase('b'), rebase('c')]).toEqual([true, true])
  })

  test('wait where no slot is free, and for builds whose turn has come', () => {
    const { rebase, begin, release } = limiterOf(2)
    expect([begin('a', 'one'), begin('b', 'two'), begin('c', 'three')]).toEqual(['acquired', 'acquired', 'queued'])
    expect(rebase('d')).toBe(false)
    release({ namespace: 'a', name: 'one' })
    expect(rebase('d')).toBe(false)
    expect(begin('c', 'three')).toBe('acquired')
  })

  test('that were refused are woken one by one when their tenant builds nothing', () => {
    const { rebase, nextRebase, leave, release } = limiterOf(2)
    expect([rebase('a'), rebase('a', 'a2'), rebase('a', 'a3'), rebase('a', 'a4'), rebase('b')]).toEqual([
      ...[true, false, false, false, false],
    ])
    leave(owner('a3'))
    expect(nextRebase('RemoteSync', 'a')).toBeUndefined()
    release({ namespace: 'a', name: 'rebase-a' })
    expect(nextRebase('RemoteSync', 'a')).toEqual({ namespace: 'a2', name: 'sync' })
    expect(nextRebase('RemoteSync', 'c')).toBeUndefined()
    expect(nextRebase('AppPipeline', 'a')).toBeUndefined()
    expect(rebase('a', 'a4')).toBe(true)
    release({ namespace: 'a', name: 'rebase-a4' })
    expect(nextRebase('RemoteSync', 'a')).toBeUndefined()
  })
})
