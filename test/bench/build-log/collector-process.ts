// Our side as a process: the collector of production with the real client and the database that its environment names. It
// collects one log from its first byte to its recorded end, and compares what is kept with what must be.
import { setTimeout as sleep } from 'node:timers/promises'
import { createKubeClient } from '../../../src/kube/client/kube-client.ts'
import { systemClock as clock } from '../../../src/lib/clock.ts'
import { SecretString } from '../../../src/lib/secret-string.ts'
import { silentLog as log } from '../../../src/lib/testing/silent-log.ts'
import type { LoggedBuild } from '../../../src/services/builds/builder.ts'
import { causeOf } from '../../../src/services/builds/cause/cause.ts'
import { createLogCollector } from '../../../src/services/builds/logs/collector.ts'
import { createBuildLogs } from '../../../src/store/builds/build-logs.ts'
import type { BuildRecord } from '../../../src/store/builds/build-record.ts'
import { createKeptLogs } from '../../../src/store/builds/kept-logs.ts'
import { readStoreSettings } from '../../../src/store/config.ts'
import { connectServer, openEmbedded } from '../../../src/store/database/database.ts'
import { dispatchCommands } from '../harness/command-server.ts'
import { keptLine, secret } from './log-text.ts'
import { timed } from './timed.ts'

const megabyte = 1_048_576
/** As SEKISHO_BUILD_LOG_MEGABYTES and SEKISHO_BUILD_LOG_STREAMS say by default. */
const limits = { most: 8 * megabyte, beginning: megabyte }
const streams = { maxStreams: 40, maxStreamsOfTenant: 20 }
/** Of the end of a log, compared byte by byte. */
const comparedBytes = 4 * megabyte
const header = '===> build\n'

const { location } = readStoreSettings(process.env)
const database = 'url' in location ? connectServer(location.url, log) : await openEmbedded(location.dataFolder, log)
const logs = createBuildLogs({ prisma: database.prisma, clock })
const kept = createKeptLogs({ prisma: database.prisma })

function buildOf(name: string, id: string): LoggedBuild {
  return {
    id,
    key: { namespace: 'acme-build', name },
    owner: { kind: 'RemoteSync', namespace: 'acme', name: 'shop', uid: `uid-of-${id}` },
    commit: 'a'.repeat(40),
    attempt: 1,
    createdAt: new Date(),
    pod: name,
    steps: ['build'],
    result: 'Succeeded',
    secrets: ['database'],
    masked: ['http://source.example.test/some-address'],
    pushes: { image: '', cache: '' },
  }
}

/** Resolves when the end of the build is recorded. */
async function collected(port: number, build: LoggedBuild): Promise<BuildRecord> {
  const connection = { server: new URL(`http://127.0.0.1:${port}`), tls: {}, authorization: async () => undefined }
  const client = createKubeClient({ connection, component: 'bench', clock, random: Math.random })
  const collector = createLogCollector({
    ...{ logs, kept, client, limits, ...streams, clock, log, random: Math.random },
    count: () => {},
    observe: () => {},
    secretsOf: async () => [new SecretString(secret)],
    causeOf: ({ log: end }) => causeOf(end)?.sentence,
    isLeader: () => true,
  })
  collector.collectFrom({ logged: () => [build] })
  collector.start()
  try {
    for (;;) {
      const record = await kept.get(build.id)
      if (record?.ended !== undefined) return record
      await sleep(20)
    }
  } finally {
    await collector.stop()
    await client.close()
  }
}

/** The bytes that are missing, or are others, at the end of what is kept. */
async function missingAtEnd(id: string, lines: number): Promise<number> {
  const expected: string[] = []
  for (let index = lines - 1, bytes = 0; index >= 0 && bytes < comparedBytes; index--) {
    const line = `${keptLine(index)}\n`
    bytes += line.length
    expected.push(line)
  }
  const wanted = Buffer.from(expected.reverse().join(''))
  const pieces: Buffer[] = []
  for (let end = Number.MAX_SAFE_INTEGER, bytes = 0; bytes < wanted.length; ) {
    const some = await kept.before(id, end)
    const last = some.at(-1)
    if (last === undefined) break
    pieces.push(...some.map(({ text }) => text))
    bytes += some.reduce((sum, { text }) => sum + text.length, 0)
    end = last.firstByte
  }
  const found = Buffer.concat(pieces.reverse())
  let same = 0
  while (same < wanted.length && found[found.length - 1 - same] === wanted[wanted.length - 1 - same]) same += 1
  return wanted.length - same
}

function bytesOf(lines: number): number {
  let sum = header.length
  for (let index = 0; index < lines; index++) sum += keptLine(index).length + 1
  return sum
}

/** The build that was collected last. */
let last: { readonly record: BuildRecord; readonly lines: number } | undefined

await dispatchCommands({
  async collect({ port, name, owner, lines: count }) {
    const lines = Number(count)
    const build = buildOf(String(name), String(owner))
    const { value: record, ...measured } = await timed(() => collected(Number(port), build))
    last = { record, lines }
    return { ...measured, outcome: record.ended?.outcome }
  },
  async compare() {
    if (last === undefined) throw new Error('no log was collected')
    const { record, lines } = last
    // What was read is counted as it is kept, before the middle of it is left out.
    return { lostOrDoubled: Math.abs(bytesOf(lines) - record.bytes), missingAtEnd: await missingAtEnd(record.id, lines) }
  },
  async close() {
    await database.close()
    return {}
  },
})
process.exit(0)
