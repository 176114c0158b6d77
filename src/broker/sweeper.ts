// Periodic housekeeping of the leader: abandons onboardings that waited too long, and deletes expired sessions, sign-ins,
// issuer records, attempts, old deliveries and onboardings that ended. Never the way by which anything becomes fast: events are
// for that.
import type { Clock } from '../lib/clock.ts'
import { messageOf } from '../lib/errors.ts'
import { type Log, redactTokens } from '../lib/log.ts'
import { type Periodic, periodic } from '../lib/periodic.ts'
import type { BrokerStore } from '../store/store.ts'
import type { OnboardingController } from './onboarding/onboarding-controller.ts'

const intervalMilliseconds = 30_000
const keepEndedMilliseconds = 30 * 24 * 60 * 60_000
const keepHandledMilliseconds = 7 * 24 * 60 * 60_000

/** One task after the other; one that fails does not keep the others from running. */
export function createSweeper(deps: {
  readonly store: Pick<BrokerStore, 'sessions' | 'oidc' | 'inbox' | 'onboardings' | 'attempts'>
  readonly onboardingController: Pick<OnboardingController, 'sweep'>
  /** False on a replica that does not lead. */
  readonly isLeader: () => boolean
  readonly clock: Clock
  readonly log: Log
}): Periodic {
  const { store, onboardingController, isLeader, clock, log } = deps

  const tasks = (now: Date): Readonly<Record<string, () => Promise<unknown>>> => ({
    onboardings: () => onboardingController.sweep(),
    endedOnboardings: () => store.onboardings.deleteEndedBefore(new Date(now.getTime() - keepEndedMilliseconds)),
    attempts: () => store.attempts.deleteExpired(now),
    sessions: () => store.sessions.deleteExpired(now),
    issuerRecords: () => store.oidc.deleteExpired(now),
    deliveries: () => store.inbox.deleteHandledBefore(new Date(now.getTime() - keepHandledMilliseconds)),
  })

  const work = async (): Promise<void> => {
    for (const [task, run] of Object.entries(tasks(clock.now()))) {
      try {
        await run()
      } catch (error) {
        log.error({ task, error: redactTokens(messageOf(error)) }, 'sweep failed')
      }
    }
  }

  return periodic({ name: 'sweep', everyMilliseconds: intervalMilliseconds, work, clock, log, enabled: isLeader })
}
