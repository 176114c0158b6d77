// The collector against an HTTP server that serves logs as the kubelet does, with the real client and a real database: breaks,
// restarts, other leaders, cancels, secrets, and a log of 100 MB.
import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { databases, openTestStore, type TestDatabase, type TestStore } from '../../../../test/fixtures/databases.ts'
import { type LogServer, startLogServer } from '../../../../test/fixtures/log-server.ts'
import { systemClock } from '../../../lib/clock.ts'
import { SecretString } from '../../../lib/secret-string.ts'
import { memoryInUse } from '../../../lib/testing/memory-in-use.ts'
import { silentLog } from '../../../lib/testing/silent-log.ts'
import { timeLimit, limits as waitLimits } from '../../../lib/waiting/limits.ts'
import { waitUntil } from '../../../lib/waiting/wait-until.ts'
import type { BuildRecord } from '../../../store/builds/build-record.ts'
import type { LoggedBuild } from '../builder.ts'
import { type CollectorDeps, createLogCollector, type LogCollector } from './collector.ts'

const megabyte = 1_048_576
const limits = { most: 8 * megabyte, beginning: megabyte }
const [database = { start: () => Promise.reject(new Error('no database')) }] = databases.toReversed()

let place: TestDatabase
let store: TestStore
let server: LogServer
let builds: LoggedBuild[]
const collectors: LogCollector[] = []
const counted = { bytes: 0, leftOut: 0, maxStreams: 0 }

beforeAll(async () => {
  place = await database.start()
  store = await openTestStore(place.location)
})
afterAll(async () => {
  await store?.close()
  await place?.stop()
})
beforeEach(async () => {
  server = await startLogServer()
  builds = []
  Object.assign(counted, { bytes: 0, leftOut: 0, maxStreams: 0 })
})
afterEach(async () => {
  await Promise.all(collectors.splice(0).map(collector => collector.stop()))
  await server.close()
})

function collect(more: Partial<CollectorDeps> = {}): LogCollector {
  const collector = createLogCollector({
    logs: store.buildLogs,
    kept: store.keptLogs,
    client: server.client,
    limits,
    maxStreams: 10,
    maxStreamsOfTenant: 5,
    count({ bytes, leftOut }) {
      counted.bytes += bytes
      counted.leftOut += leftOut
    },
    observe: streams => {
      counted.maxStreams = Math.max(counted.maxStreams, streams)
    },
    secretsOf: async () => [new SecretString('hunter2-hunter2')],
    causeOf: ({ step, log }) => `${step}: ${log.trimEnd().split('\n').at(-1) ?? ''}`,
    isLeader: () => true,
    random: Math.random,
    clock: systemClock,
    log: silentLog,
    ...more,
  })
  collector.collectFrom({ logged: () => builds })
  collector.start()
  collectors.push(collector)
  return collector
}

function addBuild(name: string, steps: readonly string[] = ['prepare', 'build'], namespace = 'acme-build'): LoggedBuild {
  const id = randomUUID()
  const build: LoggedBuild = {
    id,
    key: { namespace, name },
    owner: { kind: 'RemoteSync', namespace: 'acme', name: 'shop', uid: `uid-${id}` },
    commit: 'a'.repeat(40),
    attempt: 1,
    createdAt: new Date(),
    pod: `${name}-pod`,
    steps,
    result: undefined,
    secrets: [],
    masked: ['http://source/secret-address'],
    pushes: { image: '', cache: '' },
  }
  server.addPod(`${name}-pod`, id, steps)
  builds.push(build)
  return build
}

function ends(build: LoggedBuild, result: 'Succeeded' | 'Failed'): void {
  builds = builds.map(one => (one.id === build.id ? { ...one, result } : one))
}

const ended = (id: string) =>
  waitUntil<BuildRecord>('the end of the build on record', async () => {
    const record = await store.keptLogs.get(id)
    return record?.ended === undefined ? undefined : record
  })

async function textOf(id: string): Promise<string> {
  let text = ''
  for (let at = 0; ; ) {
    const pieces = await store.keptLogs.after(id, at)
    const last = pieces.at(-1)
    if (last === undefined) return text
    text += pieces.map(piece => piece.text.toString()).join('')
    at = last.endByte
  }
}

test('a build is seen while it runs, and is complete with its outcome, steps and cause', async () => {
  const build = addBuild('live')
  collect()
  server.start('live-pod', 'prepare')
  server.write('live-pod', 'prepare', 'cloning http://source/secret-address')
  await waitUntil('the masked text', async seen => seen(await textOf(build.id)).includes('cloning [redacted]'))
  expect((await store.keptLogs.get(build.id))?.steps).toEqual([{ name: 'prepare', state: 'Running' }])
  server.end('live-pod', 'prepare', 0)
  server.start('live-pod', 'build')
  server.write('live-pod', 'build', 'token hunter2-hunter2 and \u001b[31mred')
  server.write('live-pod', 'build', 'npm error missing script')
  server.end('live-pod', 'build', 1)
  ends(build, 'Failed')
  const record = await ended(build.id)
  expect(record).toMatchObject({ ended: { outcome: 'Failed', cause: 'build: npm error missing script' }, leftOut: 0 })
  expect(record.steps).toEqual([
    { name: 'prepare', state: 'Succeeded' },
    { name: 'build', state: 'Failed' },
  ])
  expect(await textOf(build.id)).toBe(
    '===> prepare\ncloning [redacted]\n===> build\ntoken [redacted] and red\nnpm error missing script\n',
  )
  expect(counted).toMatchObject({ bytes: record.bytes, leftOut: 0 })
})

test('nothing is lost and nothing comes twice, whatever breaks and whoever leads', async () => {
  const build = addBuild('rough', ['build'])
  server.start('rough-pod', 'build')
  let lines = 0
  const writing = setInterval(() => {
    for (let more = 0; more < 20; more++) server.write('rough-pod', 'build', `line ${lines++}`)
  }, 5)
  try {
    for (let round = 0; round < 4; round++) {
      // Two leaders at once: the one that was deposed does not know it yet.
      const [first, second] = [collect(), collect()]
      for (let part = 0; part < 4; part++) {
        const before = lines
        await waitUntil('more lines', () => lines >= before + 400)
        server.breakConnections()
        server.breakAfter(part % 2 === 0 ? 40_000 * (part + 1) : undefined)
      }
      await Promise.all([first.stop(), second.stop()])
    }
  } finally {
    clearInterval(writing)
    server.breakAfter(undefined)
  }
  collect()
  server.end('rough-pod', 'build', 0)
  ends(build, 'Succeeded')
  await ended(build.id)
  const expected = Array.from({ length: lines }, (_, index) => `line ${index}`)
  expect((await textOf(build.id)).trimEnd().split('\n')).toEqual(['===> build', ...expected])
  expect(lines).toBeGreaterThan(1000)
})

test('a build that ended while nobody read is read whole, and then no more', async () => {
  const build = addBuild('away', ['build', 'export'])
  for (const step of ['build', 'export']) {
    server.start('away-pod', step)
    server.write('away-pod', step, `all of ${step}`)
    server.end('away-pod', step, 0)
  }
  ends(build, 'Succeeded')
  collect()
  expect((await ended(build.id)).ended?.outcome).toBe('Succeeded')
  expect(await textOf(build.id)).toBe('===> build\nall of build\n===> export\nall of export\n')
  const requests = server.logRequests()
  const again = collect()
  await waitUntil('the log to be complete', async () => (await store.buildLogs.complete([build.id])).has(build.id))
  await new Promise(resolve => setTimeout(resolve, 1500))
  await again.stop()
  expect(server.logRequests()).toBe(requests)
})

test('the end of a build that has ended is read over any number of connections that break', async () => {
  const build = addBuild('flapping', ['build'])
  server.start('flapping-pod', 'build')
  const began = Date.parse('2026-01-01T00:00:00Z')
  // Each connection breaks two lines after those of the newest seconds, which are sent again.
  for (let line = 0; line < 34; line++) server.write('flapping-pod', 'build', `${line} ${'x'.repeat(960)}`, began + line * 1000)
  server.end('flapping-pod', 'build', 0)
  ends(build, 'Succeeded')
  server.breakAfter(5000)
  // Only waiting is shorter.
  collect({ clock: { ...systemClock, sleep: (milliseconds, signal) => systemClock.sleep(milliseconds / 20, signal) } })
  await ended(build.id)
  expect(server.logRequests()).toBeGreaterThan(13)
  const numbers = (await textOf(build.id)).trimEnd().split('\n').slice(1)
  expect(numbers.map(line => Number.parseInt(line, 10))).toEqual(Array.from({ length: 34 }, (_, line) => line))
})

test('of a cancelled build stays what was read', async () => {
  const build = addBuild('cancelled', ['build'])
  collect()
  server.start('cancelled-pod', 'build')
  server.write('cancelled-pod', 'build', 'halfway')
  await waitUntil('half of the text', async seen => seen(await textOf(build.id)).includes('halfway'))
  server.deletePod('cancelled-pod')
  builds = []
  expect(await ended(build.id)).toMatchObject({ ended: { outcome: 'Cancelled' }, steps: [{ name: 'build', state: 'Unknown' }] })
  expect(await textOf(build.id)).toBe('===> build\nhalfway\n')
})

test('a build that was deleted while nobody read is recorded as cancelled', async () => {
  const build = addBuild('gone', ['build'])
  const first = collect()
  await waitUntil('the build on record', async () => (await store.keptLogs.get(build.id)) !== undefined)
  await first.stop()
  builds = []
  collect()
  expect((await ended(build.id)).ended?.outcome).toBe('Cancelled')
})

test('the log of another build’s pod of the same name is never read', async () => {
  const build = addBuild('reused', ['build'])
  server.addPod('reused-pod', 'another-build', ['build'])
  server.start('reused-pod', 'build')
  server.write('reused-pod', 'build', 'of another build')
  ends(build, 'Failed')
  collect()
  await ended(build.id)
  expect(await textOf(build.id)).toBe('')
})

test('a tenant with many builds leaves streams for the others', async () => {
  for (let index = 0; index < 8; index++) {
    const { key } = addBuild(`many-${index}`, ['build'])
    server.start(`${key.name}-pod`, 'build')
  }
  const other = addBuild('other', ['build'], 'globex-build')
  server.start('other-pod', 'build')
  server.write('other-pod', 'build', 'not delayed')
  collect({ maxStreams: 4, maxStreamsOfTenant: 2 })
  await waitUntil('the text of the other build', async seen => seen(await textOf(other.id)).includes('not delayed'))
  expect(counted.maxStreams).toBe(3)
})

test('nothing is read on a replica that does not lead, nor without the secrets that must not be kept', async () => {
  const build = addBuild('hidden', ['build'])
  server.start('hidden-pod', 'build')
  server.write('hidden-pod', 'build', 'hunter2-hunter2')
  let leads = false
  let readable = false
  collect({
    isLeader: () => leads,
    secretsOf: async () => {
      if (!readable) throw new Error('away')
      return [new SecretString('hunter2-hunter2')]
    },
  })
  await new Promise(resolve => setTimeout(resolve, 1500))
  leads = true
  await new Promise(resolve => setTimeout(resolve, 1500))
  expect(server.logRequests()).toBe(0)
  readable = true
  await waitUntil('the masked text', async seen => seen(await textOf(build.id)) === '===> build\n[redacted]\n')
})

describe('a log of 100 MB', () => {
  test('takes flat memory, and its beginning and its end are kept', { timeout: timeLimit(180_000) }, async () => {
    const build = addBuild('huge', ['build'])
    server.start('huge-pod', 'build')
    const line = (index: number): string => {
      const time = new Date(Date.parse('2026-01-01T00:00:00Z') + index).toISOString().replace('Z', '000000Z')
      return `${time} ${index} ${'some output of a compiler that talks a lot '.repeat(4)}\n`
    }
    const total = Math.ceil((102 * megabyte) / (line(100_000).length - 31))
    server.generate('huge-pod', 'build', async function* () {
      for (let index = 0; index < total; index += 300) {
        const some = Array.from({ length: Math.min(300, total - index) }, (_, part) => line(index + part))
        yield Buffer.from(some.join(''))
      }
      server.end('huge-pod', 'build', 0)
      ends(build, 'Succeeded')
    })
    const used = (): number => {
      const { heapUsed, external } = memoryInUse()
      return heapUsed + external
    }
    const before = used()
    let most = 0
    const sampling = setInterval(() => {
      most = Math.max(most, used() - before)
    }, 1000)
    collect()
    const record = await waitUntil<BuildRecord>(
      'the end of the build on record',
      async () => {
        const found = await store.keptLogs.get(build.id)
        return found?.ended === undefined ? undefined : found
      },
      { timeoutMilliseconds: waitLimits.build },
    )
    clearInterval(sampling)
    const text = await textOf(build.id)
    expect(record.bytes).toBeGreaterThan(100 * megabyte)
    expect(record.leftOut).toBe(record.bytes - Buffer.byteLength(text))
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(limits.most)
    expect(text.startsWith('===> build\n0 some output')).toBe(true)
    expect(text.trimEnd().split('\n').at(-1)).toMatch(new RegExp(`^${total - 1} some output`))
    // The server that makes the log is in this process, too.
    expect(most).toBeLessThan(8 * megabyte)
  })
})
