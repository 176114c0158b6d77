// The transfers that go on: how many there may be, and what ends one that should not go on. A transfer is cut when nobody sends
// a byte for a minute, after an hour, and within two seconds after its grant ended or a Halt stands in its way.
import type { Clock } from '../../../lib/clock.ts'
import { AppError, messageOf } from '../../../lib/errors.ts'
import { createFairLimit } from '../../../lib/limits/fair-limit.ts'
import type { Log } from '../../../lib/log.ts'
import { type Periodic, periodic } from '../../../lib/periodic.ts'
import type { TokenDesk, TokenRequest } from '../../token-desk/token-desk.ts'

/** By which request it was admitted, and for which repository. */
export type Transfer = { readonly request: TokenRequest; readonly repositoryId: number }

/** One transfer. */
export type GitStream = {
  /** Aborted with an AppError when the transfer must end. */
  readonly signal: AbortSignal
  /** A byte passed, in either direction. */
  readonly touch: () => void
  readonly abort: (reason: AppError) => void
}

export type GitStreams = Pick<Periodic, 'start' | 'stop'> & {
  /**
   * Runs `work` when it is the turn of the namespace.
   * @throws AppError `too_many_requests`; `forbidden` when the grant ended before its turn; and what `work` throws
   */
  readonly run: <T>(transfer: Transfer, work: (stream: GitStream) => Promise<T>) => Promise<T>
  /** How many go on. */
  readonly size: () => number
}

export type GitStreamOptions = {
  readonly desk: Pick<TokenDesk, 'refusalNow'>
  readonly clock: Clock
  readonly log: Log
  /** Told why each was cut. */
  readonly cut?: (why: CutReason) => void
  readonly silentMilliseconds?: number
  readonly lookMilliseconds?: number
}

export const cutReasons = ['silent', 'too long', 'grant ended', 'stopping'] as const
export type CutReason = (typeof cutReasons)[number]

/** In one process; of one tenant at most 32, so that others always find a place. */
const places = { concurrency: 128, perKey: 32, waitingPerKey: 32, waiting: 512 }
/** GitHub sends a sign of life every few seconds; a client that prepares a large push may be silent for longer. */
const silentMilliseconds = 60_000
/** As long as a token lives. */
const maxMilliseconds = 3_600_000

// Memory (transfers of the git proxy): namespace → transfers that go on or wait
//   life: of the transfer, at most an hour
//   bound: 128 at once, of one namespace 32; 512 wait, of one namespace 32
//   freshness: the grants are looked at every second
//   replicas: each counts
/** None goes on. `start` begins to look at the grants. */
export function createGitStreams(options: GitStreamOptions): GitStreams {
  const { desk, clock, log, cut } = options
  const limit = createFairLimit(places)
  const open = new Map<GitStream, Transfer>()
  const lookMilliseconds = options.lookMilliseconds ?? 1000
  let isStopping = false
  const end = (stream: GitStream, why: CutReason, message: string): void => {
    if (stream.signal.aborted) return
    cut?.(why)
    stream.abort(new AppError('unavailable', message))
  }
  const look = async (): Promise<void> => {
    for (const [stream, { request, repositoryId }] of open) {
      // What cannot be decided is looked at again; it does not keep the others from being looked at.
      const refusal = await desk.refusalNow(request, repositoryId).catch((error: unknown) => {
        log.error({ error: messageOf(error) }, 'whether a transfer may go on could not be decided')
        return undefined
      })
      if (refusal !== undefined) end(stream, 'grant ended', `the transfer was cut: ${refusal}`)
    }
  }
  const { start, stop } = periodic({
    ...{ name: 'look at the transfers of the git proxy', everyMilliseconds: lookMilliseconds },
    ...{ work: look, clock, log },
  })

  const transfer = async <T>(one: Transfer, work: (stream: GitStream) => Promise<T>): Promise<T> => {
    if (isStopping) throw new AppError('unavailable', 'the platform is restarting, try again')
    const controller = new AbortController()
    const stream: GitStream = {
      signal: controller.signal,
      touch: () => void silent.refresh(),
      abort: reason => controller.abort(reason),
    }
    const silent = setTimeout(
      () => end(stream, 'silent', 'the transfer was cut: nobody sent anything for a minute'),
      options.silentMilliseconds ?? silentMilliseconds,
    ).unref()
    const whole = setTimeout(() => end(stream, 'too long', 'the transfer was cut after an hour'), maxMilliseconds).unref()
    open.set(stream, one)
    try {
      return await work(stream)
    } finally {
      open.delete(stream)
      clearTimeout(silent)
      clearTimeout(whole)
    }
  }

  return {
    start,
    async stop() {
      isStopping = true
      for (const stream of open.keys()) end(stream, 'stopping', 'the transfer was cut: the platform is restarting, try again')
      await stop()
    },
    run(one, work) {
      const { request, repositoryId } = one
      const asked = clock.now().getTime()
      const running = limit.run(request.subject.namespace, async () => {
        // Nobody looks at those that wait.
        const waited = clock.now().getTime() - asked > lookMilliseconds
        const refusal = waited ? await desk.refusalNow(request, repositoryId) : undefined
        if (refusal !== undefined) throw new AppError('forbidden', refusal)
        return transfer(one, work)
      })
      if (running !== undefined) return running
      log.debug({ namespace: request.subject.namespace }, 'too many transfers through the git proxy')
      return Promise.reject(
        new AppError('too_many_requests', 'too many transfers of this tenant through the git proxy: wait for one to end', {
          ...{ reason: 'RateLimited', retryAfterSeconds: 5 },
        }),
      )
    },
    size: () => open.size,
  }
}

/** The reason of a cut, or what broke. */
export function endReason(stream: GitStream, error: unknown): string {
  const reason: unknown = stream.signal.reason
  return messageOf(stream.signal.aborted && reason instanceof Error ? reason : error)
}
