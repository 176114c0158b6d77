// Fault 6 of the list in fault-page.ts: two real processes compete for one lease, and the leader dies, exits, or is suspended
// and resumed. Who wrote what and when is read from the proxy's log and the server's resourceVersions, never from the
// processes.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { configMaps } from '../../src/api/builtin/index.ts'
import { tooManyRequests } from '../proxies/chaos-proxy/faults.ts'
import type { LoggedRequest } from '../proxies/chaos-proxy/request-log.ts'
import { type ChaosFixture, fieldManager, secondsSince, until, withChaos } from './fixtures/chaos-fixture.ts'
import { expectAllFulfilled } from './fixtures/concurrent-cases.ts'
import { recordOutcome } from './outcome.ts'

const fault = 6
const program = fileURLToPath(new URL('./programs/counter.ts', import.meta.url))
const counter = 'counter'

type Replica = {
  readonly process: ChildProcess
  /** Successful writes of the counter. */
  readonly writes: () => readonly LoggedRequest[]
}

type Pair = ChaosFixture & { readonly leader: Replica; readonly follower: Replica }

async function startReplica(fixture: ChaosFixture, kubeconfig: string, identity: string): Promise<Replica> {
  const { namespace, proxy } = fixture
  const child = spawn(process.execPath, [program, namespace, counter, identity], {
    env: { ...process.env, KUBECONFIG: kubeconfig },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  const writes = (): readonly LoggedRequest[] =>
    proxy.log.entries(request => request.fieldManager === identity && request.name === counter && request.status === 200)
  return { process: child, writes }
}

/** A replica that leads and writes, and one that waits. */
async function withPair(): Promise<Pair> {
  const fixture = await withChaos()
  const { direct, namespace, proxy } = fixture
  const folder = await mkdtemp(join(tmpdir(), 'sekisho-leader-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const kubeconfig = join(folder, 'kubeconfig')
  await writeFile(kubeconfig, proxy.kubeconfig(), { mode: 0o600 })
  await direct.create(
    configMaps,
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name: counter } },
    { fieldManager },
  )
  const leader = await startReplica(fixture, kubeconfig, 'first')
  await until('the first to write', () => leader.writes().length > 3)
  const follower = await startReplica(fixture, kubeconfig, 'second')
  expect(follower.writes()).toEqual([])
  return { ...fixture, leader, follower }
}

/** Seconds from `since` until the follower's first write. */
async function followed({ follower }: Pair, since: number): Promise<number> {
  await until('the second to write', () => follower.writes().length > 0)
  return Math.round((follower.writes()[0]?.at ?? 0) - since) / 1000
}

/** The first leader's writes after the first write of the second, by the server's own order. */
function writesTooLate({ leader, follower }: Pair): number {
  const version = (write: LoggedRequest | undefined): bigint => BigInt(write?.answeredVersion ?? expect.fail('no version'))
  const handover = version(follower.writes()[0])
  return leader.writes().filter(write => version(write) > handover).length
}

async function recordHandover(name: string, seconds: number, atMost: number, pair: Pair): Promise<void> {
  await recordOutcome({ fault, case: name, measure: 'time until the next one writes', value: seconds, unit: 's', atMost })
  await recordTooLate(name, pair)
}

async function recordTooLate(name: string, pair: Pair): Promise<void> {
  const measure = 'writes by the old leader after the new one’s first'
  await recordOutcome({ fault, case: name, measure, value: writesTooLate(pair), unit: 'writes', atMost: 0 })
}

async function killed(): Promise<void> {
  const pair = await withPair()
  const since = performance.now()
  pair.leader.process.kill('SIGKILL')
  await recordHandover('the leader is killed (SIGKILL)', await followed(pair, since), 17.4, pair)
}

async function terminated(): Promise<void> {
  const pair = await withPair()
  const ended = once(pair.leader.process, 'exit')
  const since = performance.now()
  pair.leader.process.kill('SIGTERM')
  await recordHandover('the leader is asked to end (SIGTERM)', await followed(pair, since), 3, pair)
  expect(await ended).toEqual([0, null])
}

/** Suspends the leader for 20 s and resumes it in the middle of what it was doing. */
async function suspended(name: string, doing: (pair: Pair) => Promise<void>): Promise<void> {
  const pair = await withPair()
  const { leader, follower, proxy } = pair
  await doing(pair)
  const since = performance.now()
  leader.process.kill('SIGSTOP')
  await wait(20_000)
  expect(follower.writes().length, 'the second leads by now').toBeGreaterThan(0)
  leader.process.kill('SIGCONT')
  const awake = performance.now()
  const readsLease = ({ verb, resource, userAgent }: LoggedRequest): boolean =>
    verb === 'get' && resource === 'leases' && userAgent.endsWith('first')
  await until('the first to read the lease again', () => proxy.log.entries(readsLease, awake).length > 1)
  const before = follower.writes().length
  await until('the second to go on', () => follower.writes().length > before + 20)
  expect(secondsSince(since)).toBeGreaterThan(20)
  await recordTooLate(name, pair)
}

// Each case has its own lease; they run concurrently because they mostly wait.
test('after the leader is killed, terminated or suspended, the other one takes over and the old one writes nothing', async () => {
  await expectAllFulfilled([
    killed(),
    terminated(),
    suspended('the leader is stopped for 20 s and goes on', async () => {}),
    suspended('the leader is stopped for 20 s while a write waits to be repeated after a 429', async ({ proxy }) => {
      const match = ({ fieldManager: by, name }: { fieldManager: string | undefined; name: string | undefined }): boolean =>
        by === 'first' && name === counter
      await proxy.onRequest({ kind: 'refuse', ...tooManyRequests(3) }, { match }).firstUse
    }),
  ])
})
