// Reads the log of one container to its end, however often the connection breaks: it follows while the container runs, and when
// the container has ended it reads on until a read brings nothing new. It reads no faster than its text is written, and keeps
// nothing but one bounded line.
import { type ContainerStatus, type Pod, pods } from '../../../api/builtin/index.ts'
import type { KubeClient } from '../../../kube/client/client.ts'
import { isKubeError } from '../../../kube/client/errors.ts'
import { equalJitter } from '../../../lib/backoff.ts'
import { type Clock, elapsed, endsWithin } from '../../../lib/clock.ts'
import { messageOf } from '../../../lib/errors.ts'
import type { LoggedBuild } from '../builder.ts'
import { createLineSplitter, parseLine } from './lines.ts'
import { advanced, type ReadPosition, resumption, sinceOf } from './position.ts'

/** Where the text goes, and what was read before. */
export type StepLog = {
  readonly position: () => ReadPosition | undefined
  /** Whole lines, and how far the log is read with them. */
  readonly add: (lines: readonly string[], position: ReadPosition | undefined) => void
  readonly full: () => boolean
  readonly flush: () => Promise<void>
}

export type StepRun = {
  readonly client: Pick<KubeClient, 'get' | 'podLogStream'>
  /** As it is now; undefined when it does not exist any more. */
  readonly build: () => LoggedBuild | undefined
  readonly log: StepLog
  readonly clock: Clock
  readonly random: () => number
  readonly signal: AbortSignal
}

export type StepEnd =
  | { readonly kind: 'ended'; readonly exitCode: number }
  /** The build ended before this container started. */
  | { readonly kind: 'never' }
  /** The pod is gone: what was read is all there will be. */
  | { readonly kind: 'gone' }

/** People who follow a log see a line this long after it was written, at most. */
const flushMilliseconds = 500
const pauseMilliseconds = 500
/** A connection that is silent for so long may be dead: another one is opened. */
const silenceMilliseconds = 60_000
const backoff = { baseMilliseconds: 500, capMilliseconds: 10_000 }
/** Looks at a container that has not started although the build has ended. */
const maxIdle = 60
/** In a row without anything new, of a container that has ended: a node that is gone does not come back with its log. */
const maxFailures = 12

function statusOf(pod: Pod, container: string): ContainerStatus | undefined {
  const { initContainerStatuses = [], containerStatuses = [] } = pod.status ?? {}
  return [...initContainerStatuses, ...containerStatuses].find(({ name }) => name === container)
}

function hasEnded({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed'
}

/** A cancelled build may be followed by one of the same name. */
function isOf({ metadata: { uid, ownerReferences = [] } }: Pod, { id }: LoggedBuild): boolean {
  return uid === id || ownerReferences.some(owner => owner.uid === id)
}

/** The pod of the build; undefined while there is none. */
export async function podOf({ client }: Pick<StepRun, 'client'>, build: LoggedBuild): Promise<Pod | undefined> {
  if (build.pod === undefined) return undefined
  const pod = await client.get(pods, { namespace: build.key.namespace, name: build.pod })
  return pod !== undefined && isOf(pod, build) ? pod : undefined
}

/** What a container does now: nothing yet, or it runs, or it has ended. `over`: the container will not run any more. */
type Now =
  | { readonly kind: 'waits' }
  | { readonly kind: 'over'; readonly end: StepEnd }
  | { readonly kind: 'runs'; readonly pod: Pod }
  | { readonly kind: 'ended'; readonly pod: Pod; readonly exitCode: number }

async function look(run: StepRun, container: string): Promise<Now> {
  const build = run.build()
  if (build === undefined) return { kind: 'over', end: { kind: 'gone' } }
  const pod = await podOf(run, build)
  if (pod === undefined) return build.result === undefined ? { kind: 'waits' } : { kind: 'over', end: { kind: 'gone' } }
  const state = statusOf(pod, container)?.state
  if (state?.terminated !== undefined) return { kind: 'ended', pod, exitCode: state.terminated.exitCode }
  if (state?.running !== undefined) return { kind: 'runs', pod }
  return hasEnded(pod) ? { kind: 'over', end: { kind: 'never' } } : { kind: 'waits' }
}

/** Rejects with the reason of the signal, with what `flush` rejects with, and with KubeError where a retry does not help. */
export async function readStep(run: StepRun, container: string): Promise<StepEnd> {
  const { clock, signal, log } = run
  let idle = 0
  let failures = 0
  while (idle <= maxIdle) {
    signal.throwIfAborted()
    const now = await look(run, container)
    if (now.kind === 'over') return now.end
    if (now.kind === 'waits') {
      idle = await waitForStart(run, idle)
      continue
    }
    const read = await readOnce(run, { pod: now.pod, container, follow: now.kind === 'runs' })
    await log.flush()
    // A connection that broke after it had brought something new is not one of those that bring nothing.
    failures = read.kind === 'read' ? 0 : read.more ? 1 : failures + 1
    if (now.kind === 'ended' && isComplete(read, failures)) return ended(run, read, now.exitCode)
    if (failures > 0) await clock.sleep(equalJitter(backoff, failures, run.random), signal)
  }
  return { kind: 'never' }
}

/** Resolves to how many times in a row nothing had started although the build has ended. */
async function waitForStart({ build, clock, signal }: StepRun, idle: number): Promise<number> {
  const waited = build()?.result === undefined ? 0 : idle + 1
  if (waited <= maxIdle) await clock.sleep(pauseMilliseconds, signal)
  return waited
}

/** The log itself says that its end is missing. */
function ended({ log }: StepRun, read: Read, exitCode: number): StepEnd {
  if (read.kind === 'failed') log.add([`[the rest of this log cannot be read: ${read.message}]`], log.position())
  return { kind: 'ended', exitCode }
}

/** `more`: it brought lines that were not read before. */
type Read = { readonly more: boolean } & ({ readonly kind: 'read' } | { readonly kind: 'failed'; readonly message: string })

/** Of a container that has ended: nothing came that was not read before, or it cannot be read. */
function isComplete(read: Read, failures: number): boolean {
  return read.kind === 'failed' ? failures >= maxFailures : !read.more
}

/** One connection. */
async function readOnce(
  { client, log, clock, signal }: StepRun,
  { pod, container, follow }: { readonly pod: Pod; readonly container: string; readonly follow: boolean },
): Promise<Read> {
  const connection = new AbortController()
  const before = log.position()
  const { metadata } = pod
  const lines = createTaker(log, before)
  const splitter = createLineSplitter()
  try {
    const stream = await client.podLogStream(
      { namespace: metadata.namespace ?? '', name: metadata.name },
      {
        container,
        follow,
        signal: AbortSignal.any([signal, connection.signal]),
        ...(before === undefined ? {} : { sinceTime: sinceOf(before) }),
      },
    )
    for await (const bytes of inTime(stream, { clock, flush: log.flush, full: log.full })) lines.take(splitter.push(bytes))
    // Of a container that runs the line may go on; of one that has ended it is the last one.
    const rest = follow ? undefined : splitter.rest()
    if (rest !== undefined) lines.take([rest])
    return { kind: 'read', more: lines.taken() > 0 }
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof FlushFailure) throw error.cause
    if (isKubeError(error) && !error.retryable && error.status !== 404 && error.status !== 400) throw error
    return { kind: 'failed', more: lines.taken() > 0, message: messageOf(error).slice(0, 300) }
  } finally {
    connection.abort('read')
  }
}

/** What `flush` rejected with, as distinct from a broken connection. */
class FlushFailure extends Error {}

/** Yields the stream's bytes, flushes at least every half second, and ends when the stream ends or is silent for too long. */
async function* inTime(
  stream: AsyncIterable<Uint8Array>,
  { clock, flush, full }: { readonly clock: Clock } & Pick<StepLog, 'flush' | 'full'>,
): AsyncGenerator<Uint8Array> {
  const iterator = stream[Symbol.asyncIterator]()
  const flushed = (): Promise<void> =>
    flush().catch((cause: unknown) => {
      throw new FlushFailure('the log cannot be written', { cause })
    })
  let lastBytes = elapsed(clock)
  let lastFlush = lastBytes
  let next = iterator.next()
  for (;;) {
    if (!(await endsWithin(clock, flushMilliseconds, next))) {
      // The loop may end without it.
      next.catch(() => {})
      await flushed()
      lastFlush = elapsed(clock)
      if (lastFlush - lastBytes >= silenceMilliseconds) return
      continue
    }
    const { done, value } = await next
    if (done === true) return
    lastBytes = elapsed(clock)
    yield value
    if (full() || lastBytes - lastFlush >= flushMilliseconds) {
      await flushed()
      lastFlush = elapsed(clock)
    }
    next = iterator.next()
  }
}

/** Passes on the lines that were not read before, and says where some are missing. */
function createTaker(log: StepLog, before: ReadPosition | undefined) {
  const again = resumption(before)
  let taken = 0
  return {
    taken: () => taken,
    take(lines: readonly string[]): void {
      let position = log.position()
      const fresh: string[] = []
      for (const line of lines) {
        const { time, text } = parseLine(line)
        if (time === undefined) continue
        const gapBefore = again.hasGap()
        if (again.isKnown(time)) continue
        if (again.hasGap() && !gapBefore)
          fresh.push('[lines may be missing here: the node dropped a part of the log before it was read]')
        fresh.push(text)
        position = advanced(position, time)
        taken += 1
      }
      if (fresh.length > 0) log.add(fresh, position)
    },
  }
}
