// What ends a transfer, and how many there may be.
import { once } from 'node:events'
import { describe, expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../../lib/clock.ts'
import { silentLog } from '../../../lib/testing/silent-log.ts'
import { waitUntil } from '../../../lib/waiting/wait-until.ts'
import type { TokenRequest } from '../../token-desk/token-desk.ts'
import { type CutReason, createGitStreams, endReason, type GitStream } from './git-streams.ts'

const requestOf = (namespace: string): TokenRequest => ({
  grant: { metadata: { name: 'write-shop', namespace, uid: 'uid' } },
  subject: { kind: 'ServiceAccount', namespace, name: 'runner', uid: 'runner-uid' },
  actor: `system:serviceaccount:${namespace}:runner`,
})

const transferOf = (namespace: string) => ({ request: requestOf(namespace), repositoryId: 4001 })

function opened(options: { readonly silentMilliseconds?: number } = {}) {
  const refused = new Set<string>()
  const cuts: CutReason[] = []
  const desk = {
    async refusalNow({ grant: { metadata } }: TokenRequest, repositoryId: number) {
      if (repositoryId !== 4001) return 'the grant does not hold for this repository'
      if (metadata.namespace === 'broken') throw new Error('the API server does not answer')
      return refused.has(metadata.namespace ?? '') ? 'the grant is gone' : undefined
    },
  }
  const streams = createGitStreams({
    ...{ desk, clock: systemClock, log: silentLog, cut: why => void cuts.push(why), lookMilliseconds: 5 },
    ...options,
  })
  onTestFinished(() => streams.stop())
  return { refused, cuts, streams }
}

const untilAborted = async ({ signal }: GitStream): Promise<void> => {
  if (!signal.aborted) await once(signal, 'abort')
}

/** Resolves to the stream when `work` began; `end` ends it. */
function begin(streams: ReturnType<typeof createGitStreams>, namespace: string) {
  const { promise: stream, resolve } = Promise.withResolvers<GitStream>()
  const ended = Promise.withResolvers<void>()
  const done = streams.run(transferOf(namespace), async begun => {
    resolve(begun)
    await ended.promise
  })
  return { stream, done, end: ended.resolve }
}

describe('a transfer is cut', () => {
  test('when nobody sends anything', async () => {
    const { streams, cuts } = opened({ silentMilliseconds: 10 })
    await streams.run(transferOf('acme'), async stream => {
      await untilAborted(stream)
      expect(endReason(stream, new Error('aborted'))).toContain('nobody sent anything')
    })
    expect(cuts).toEqual(['silent'])
  })

  test('when its grant ends, and others go on', async () => {
    const { streams, refused, cuts } = opened()
    const [acme, globex] = [begin(streams, 'acme'), begin(streams, 'globex')]
    const [ours, theirs] = [await acme.stream, await globex.stream]
    streams.start()
    refused.add('acme')
    await untilAborted(ours)
    expect(endReason(ours, undefined)).toContain('the grant is gone')
    expect(theirs.signal.aborted).toBe(false)
    acme.end()
    globex.end()
    await Promise.all([acme.done, globex.done])
    expect(cuts).toEqual(['grant ended'])
    expect(streams.size()).toBe(0)
  })

  test('when its grant ends, also when another one cannot be decided', async () => {
    const { streams, refused } = opened()
    const [broken, acme] = [begin(streams, 'broken'), begin(streams, 'acme')]
    const [other, ours] = [await broken.stream, await acme.stream]
    streams.start()
    refused.add('acme')
    await untilAborted(ours)
    expect(other.signal.aborted).toBe(false)
    broken.end()
    acme.end()
    await Promise.all([broken.done, acme.done])
  })

  test('when the grant does not hold for its repository any more', async () => {
    const { streams, cuts } = opened()
    streams.start()
    await streams.run({ request: requestOf('acme'), repositoryId: 4002 }, untilAborted)
    expect(cuts).toEqual(['grant ended'])
  })

  test('when the process stops', async () => {
    const { streams, cuts } = opened()
    const one = begin(streams, 'acme')
    const stream = await one.stream
    await streams.stop()
    expect(stream.signal.aborted).toBe(true)
    one.end()
    await one.done
    expect(cuts).toEqual(['stopping'])
  })
})

test('a tenant has 32 places, 32 wait for them, the next one is refused, and another tenant finds a place', async () => {
  const { streams } = opened()
  const running = Array.from({ length: 64 }, () => begin(streams, 'acme'))
  await running[31]?.stream
  expect(streams.size()).toBe(32)
  await expect(begin(streams, 'acme').done).rejects.toMatchObject({ code: 'too_many_requests', retryAfterSeconds: 5 })
  const other = begin(streams, 'globex')
  await other.stream
  for (const { end } of [...running, other]) end()
  await Promise.all([...running, other].map(({ done }) => done))
  expect(streams.size()).toBe(0)
})

test('what waited is looked at again at its turn, and nothing begins while the process stops', async () => {
  const { streams, refused } = opened()
  const running = Array.from({ length: 32 }, () => begin(streams, 'acme'))
  await running[31]?.stream
  const [waiting, other] = [begin(streams, 'acme'), begin(streams, 'acme')]
  refused.add('acme')
  const since = systemClock.now().getTime()
  await waitUntil('both have waited', () => systemClock.now().getTime() > since + 5)
  running[0]?.end()
  await expect(waiting.done).rejects.toMatchObject({ code: 'forbidden', message: 'the grant is gone' })
  await expect(other.done).rejects.toMatchObject({ code: 'forbidden' })
  refused.delete('acme')
  const last = begin(streams, 'acme')
  await last.stream
  const stopped = begin(streams, 'acme')
  await streams.stop()
  for (const { end } of [...running, last]) end()
  await expect(stopped.done).rejects.toMatchObject({ code: 'unavailable' })
})
