// Keeps onboardings going: at once when a person confirms, when a Tenant changes (its namespace came), and by a sweep for what a crash
// left behind. The same onboarding never advances twice at once here; two processes are kept apart by the API server's create.

import { tenant } from '../../api/tenancy/tenant.ts'
import { isKubeError } from '../../kube/client/errors.ts'
import type { ControllerDefinition } from '../../kube/controller/controller.ts'
import { done, requeueAfter } from '../../kube/controller/controller.ts'
import type { Clock } from '../../lib/clock.ts'
import { isAppError, messageOf } from '../../lib/errors.ts'
import { redactTokens } from '../../lib/log.ts'
import { SingleFlight } from '../../lib/single-flight.ts'
import type { Onboarding } from '../../store/onboardings.ts'
import { intentOf } from './intent.ts'
import { type AdvanceDeps, advanceOnboarding, type Progress } from './onboarding-steps.ts'

export type OnboardingWorkerDeps = AdvanceDeps & { readonly clock: Clock }

export type OnboardingWorker = {
  /** One attempt now; never throws. What is left is taken up by the Tenant's changes and the sweep. */
  readonly attempt: (id: string) => Promise<void>
  /** Everything unfinished; gives up what nobody confirmed or approved in time. */
  readonly sweep: () => Promise<void>
  /** Wakes the onboardings of a tenant whenever the tenant changes. */
  readonly controller: ControllerDefinition
}

const confirmWithinMilliseconds = 60 * 60_000
const approveWithinMilliseconds = 30 * 24 * 60 * 60_000
const waitMilliseconds = 2000

export function createOnboardingWorker(deps: OnboardingWorkerDeps): OnboardingWorker {
  const { onboardings, clock, log } = deps
  const flights = new SingleFlight<Progress>()

  const advance = (id: string): Promise<Progress> =>
    flights.run(id, async () => {
      const onboarding = await onboardings.find(id)
      if (onboarding === undefined || onboarding.state === 'finished' || onboarding.state === 'abandoned') return 'finished'
      return advanceOnboarding(deps, onboarding)
    })

  const attempt = async (id: string): Promise<void> => {
    try {
      await advance(id)
    } catch (error) {
      // Kept: the intent is in the store, so the next change or sweep tries again.
      const expected = isAppError(error) || isKubeError(error)
      log.error(
        { onboarding: id, reason: redactTokens(messageOf(error)), ...(expected ? {} : { error }) },
        'onboarding did not advance',
      )
    }
  }

  const isStale = (onboarding: Onboarding): boolean => {
    const age = clock.now().getTime() - onboarding.updatedAt.getTime()
    if (onboarding.state === 'waiting-for-approval') return age > approveWithinMilliseconds
    return !intentOf(onboarding).confirmed && age > confirmWithinMilliseconds
  }

  return {
    attempt,
    async sweep() {
      for (const onboarding of await onboardings.unfinished()) {
        if (isStale(onboarding)) await onboardings.advance(onboarding.id, 'abandoned')
        else if (onboarding.state !== 'waiting-for-approval') await attempt(onboarding.id)
      }
    },
    controller: {
      name: 'broker-onboarding',
      for: tenant,
      wakesOnStatus: true,
      concurrency: 2,
      resyncMilliseconds: 0,
      async reconcile({ key }) {
        const concerned = (await onboardings.unfinished()).filter(onboarding => intentOf(onboarding).tenantName === key.name)
        const progress = await Promise.all(concerned.map(({ id }) => advance(id)))
        return progress.includes('waiting') ? requeueAfter(waitMilliseconds) : done
      },
    },
  }
}
