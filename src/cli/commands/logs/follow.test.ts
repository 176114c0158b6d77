import { expect, test } from 'vitest'
import type { Pod } from '../../../api/builtin/core.ts'
import { labels } from '../../../api/names.ts'
import type { KubeClient, PodLogStreamOptions, WatchEvent } from '../../../kube/client/client.ts'
import { KubeError } from '../../../kube/client/errors.ts'
import { systemClock } from '../../../lib/clock.ts'
import { type Following, followLogs } from './follow.ts'
import { type LogLine, parseLine, shown } from './log-line.ts'

type Run = { readonly restarts: number; readonly running?: boolean; readonly before?: boolean }

function pod(name: string, { restarts, running = true, before = false }: Run): Pod {
  const state = running ? { running: {} } : { terminated: { exitCode: 1 } }
  const lastState = before ? { terminated: { exitCode: 1 } } : {}
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, uid: `uid-${name}`, labels: { [labels.process]: 'web' } },
    status: {
      containerStatuses: [{ name: 'web', ready: running, restartCount: restarts, image: '', imageID: '', state, lastState }],
    },
  }
}

type Opened = { readonly pod: string } & Pick<PodLogStreamOptions, 'previous' | 'sinceTime' | 'tailLines'>

/** An API server with the pods at the beginning, events that the test sends, and a log for each stream that is opened. */
function server(first: readonly Pod[], logOf: (opened: Opened, count: number) => AsyncIterable<Uint8Array>) {
  const opened: Opened[] = []
  const waiting: WatchEvent<Pod>[] = []
  let wake = Promise.withResolvers<void>()
  const ending = new AbortController()
  const client = {
    snapshot: async () => ({ items: first, resourceVersion: '1' }),
    async *watch() {
      for (;;) {
        const event = waiting.shift()
        if (event !== undefined) yield event
        else await Promise.race([wake.promise, new Promise((_, reject) => ending.signal.addEventListener('abort', reject))])
        wake = Promise.withResolvers<void>()
      }
    },
    podLogStream: async (key: { readonly name: string }, { previous = false, sinceTime, tailLines }: PodLogStreamOptions) => {
      const one = { pod: key.name, previous, sinceTime, tailLines }
      opened.push(one)
      return logOf(one, opened.length)
    },
  } as unknown as Pick<KubeClient, 'podLogStream' | 'snapshot' | 'watch'>
  const lines: LogLine[] = []
  const changed: (() => void)[] = []
  const following: Following = {
    client,
    namespace: 'acme',
    clock: { ...systemClock, sleep: () => new Promise(resolve => setImmediate(resolve)) },
    signal: ending.signal,
    labelSelector: 'a=b',
    tailLines: 5,
    sinceTime: undefined,
    onLine: line => {
      lines.push(line)
      for (const call of changed) call()
    },
    onNotice: text => {
      throw new Error(text)
    },
  }
  const followed = followLogs(following).catch(() => {})
  return {
    lines,
    opened,
    send(object: Pod) {
      waiting.push({ type: 'MODIFIED', object, resourceVersion: '2' })
      wake.resolve()
    },
    async until(count: number): Promise<void> {
      while (lines.length < count) await new Promise<void>(resolve => changed.push(resolve))
    },
    async end() {
      ending.abort(new Error('over'))
      await followed
    },
  }
}

async function* text(...parts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield Buffer.from(part)
}

/** The container goes on, so the stream stays open. */
async function* running(part: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(part)
  await new Promise(() => {})
}

const at = (second: number, words: string): string => `2026-11-22T10:00:${String(second).padStart(2, '0')}.000000001Z ${words}`

test('a container that restarts is read again, and what it wrote just before it ended is not lost', async () => {
  const fake = server([pod('shop-web-1', { restarts: 0 })], ({ previous }, count) =>
    previous ? text(`${at(5, 'the cause')}\n`) : running(`${at(count, `stream ${count}`)}\n`),
  )
  await fake.until(1)
  // It restarted twice before we looked: run 1 can only be read as the previous one.
  fake.send(pod('shop-web-1', { restarts: 2, before: true }))
  await fake.until(3)
  expect(fake.lines.map(line => line.text).sort()).toEqual(['stream 1', 'stream 3', 'the cause'].sort())
  // Old lines are asked for only at the beginning.
  expect(fake.opened.map(({ tailLines }) => tailLines)).toEqual([5, undefined, undefined])
  await fake.end()
})

test('a pod that starts later is read from its beginning', async () => {
  const fake = server([], ({ pod: name }) => running(`${at(1, name)}\n`))
  fake.send(pod('shop-web-2', { restarts: 0 }))
  await fake.until(1)
  expect(fake.opened).toEqual([{ pod: 'shop-web-2', previous: false, sinceTime: undefined, tailLines: undefined }])
  await fake.end()
})

test('a stream that breaks goes on after the last line, without showing one twice', async () => {
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(`${at(1, 'one')}\n${at(2, 'two')}\nhalf a li`)
    throw new KubeError('broken', { status: 0, reason: 'Unreachable' })
  }
  const fake = server([pod('shop-web-1', { restarts: 0 })], (_, count) =>
    count === 1 ? broken() : running(`${at(2, 'two')}\n${at(3, 'three')}\n`),
  )
  await fake.until(3)
  expect(fake.lines.slice(0, 3).map(line => line.text)).toEqual(['one', 'two', 'three'])
  expect(fake.opened[1]?.sinceTime).toBe('2026-11-22T10:00:02.000000001Z')
  await fake.end()
})

test('a line has its process and pod, and nothing in it moves the cursor or changes colours', () => {
  const source = { process: 'web', pod: 'shop-web-7d9f-x2x1p', container: 'web' }
  const line = parseLine(source, `${at(1, '\u001b[32mgreen\u001b[39m\ttab')}\r`, '')
  expect(shown(line, { width: 10 })).toBe('web.x2x1p  | green    tab')
  expect(shown(line, { width: 0, timestamps: true })).toBe('2026-11-22T10:00:01.000000001Z web.x2x1p | green    tab')
  expect(parseLine(source, 'unable to retrieve container logs', 'before')).toMatchObject({ time: 'before' })
})
