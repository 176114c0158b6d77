// For what a process asks before its manager starts: as long as no API server answers, it waits, alive and not ready, as it
// waits for its database. To end instead would leave it to the kubelet's growing pauses, which are longer than most outages.
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { isKubeError } from './errors.ts'

const retryMilliseconds = 3000

/** Asks again after an error that may pass (KubeError `retryable`), logging the first of each; rejects with any other. */
export async function untilAnswered<T>(
  ask: () => Promise<T>,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): Promise<T> {
  let reported: string | undefined
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      if (!isKubeError(error) || !error.retryable) throw error
      if (error.message !== reported)
        log.error({ error: error.message, retrySeconds: retryMilliseconds / 1000 }, 'waiting for the API server')
      reported = error.message
    }
    await clock.sleep(retryMilliseconds)
  }
}
