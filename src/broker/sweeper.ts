// Regular housekeeping: onboardings that stopped half-way go on, expired sessions, logins and issuer records go away.
// Never the way by which anything becomes fast: that is what events are for.
import type { Clock } from '../lib/clock.ts'
import { messageOf } from '../lib/errors.ts'
import { type Log, redactTokens } from '../lib/log.ts'
import type { Store } from '../store/store.ts'
import type { OnboardingWorker } from './onboarding/onboarding-controller.ts'

export type Sweeper = { readonly start: () => void; readonly stop: () => Promise<void> }

const intervalMilliseconds = 30_000
const keepHandledMilliseconds = 7 * 24 * 60 * 60_000

export function createSweeper(deps: {
  readonly store: Pick<Store, 'sessions' | 'oidc' | 'inbox'>
  readonly onboarding: OnboardingWorker
  readonly clock: Clock
  readonly log: Log
}): Sweeper {
  const { store, onboarding, clock, log } = deps
  const stopped = new AbortController()
  let running: Promise<void> = Promise.resolve()

  const tasks = (): Readonly<Record<string, () => Promise<unknown>>> => {
    const now = clock.now()
    return {
      onboardings: () => onboarding.sweep(),
      sessions: () => store.sessions.deleteExpired(now),
      issuerRecords: () => store.oidc.deleteExpired(now),
      deliveries: () => store.inbox.deleteHandledBefore(new Date(now.getTime() - keepHandledMilliseconds)),
    }
  }

  const loop = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      for (const [task, run] of Object.entries(tasks())) {
        try {
          await run()
        } catch (error) {
          log.error({ task, reason: redactTokens(messageOf(error)) }, 'sweep failed')
        }
      }
      // Rejects only when stopped, which the loop's condition sees.
      await clock.sleep(intervalMilliseconds, stopped.signal).catch(() => undefined)
    }
  }

  return {
    start() {
      running = loop()
    },
    async stop() {
      stopped.abort()
      await running
    },
  }
}
