// Decides when the steps of an onboarding run: at once when a person confirms, when its Tenant changes (the namespace was created), and
// periodically for what a crash left behind. In this process one onboarding never advances twice at once; of two processes, one wins the
// API server's create.
import { tenant } from '../../api/tenancy/tenant.ts'
import { isKubeError } from '../../kube/client/errors.ts'
import { type ControllerDefinition, done, requeueAfter } from '../../kube/controller/controller.ts'
import type { Clock } from '../../lib/clock.ts'
import { isAppError, messageOf } from '../../lib/errors.ts'
import { redactTokens } from '../../lib/log.ts'
import { SingleFlight } from '../../lib/single-flight.ts'
import type { OnboardingRecord, OnboardingRecords } from './onboarding-records.ts'
import { advanceOnboarding, type Progress, type StepDeps } from './onboarding-steps.ts'

export type OnboardingControllerDeps = StepDeps & { readonly onboardings: OnboardingRecords; readonly clock: Clock }

export type OnboardingController = {
  /** One attempt now; never rejects. A failure is logged, and the Tenant's changes and `sweep` try again. */
  readonly attempt: (id: string) => Promise<void>
  /** Attempts every unfinished onboarding, and abandons those that nobody confirmed or approved in time. */
  readonly sweep: () => Promise<void>
  /** Advances the onboardings of a tenant whenever the tenant changes. */
  readonly definition: ControllerDefinition
}

const confirmWithinMilliseconds = 60 * 60_000
const approveWithinMilliseconds = 30 * 24 * 60 * 60_000
const waitMilliseconds = 2000

/** Add the definition to the manager before it starts. Attempts that fail are repeated by `sweep`. */
export function createOnboardingController(deps: OnboardingControllerDeps): OnboardingController {
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
      // The intent is still in the store: the next change of the Tenant or the sweep tries again.
      const isExpected = isAppError(error) || isKubeError(error)
      log.error({ onboarding: id, error: isExpected ? redactTokens(messageOf(error)) : error }, 'failed to advance onboarding')
    }
  }

  const isStale = ({ state, updatedAt, intent }: OnboardingRecord): boolean => {
    const age = clock.now().getTime() - updatedAt.getTime()
    if (state === 'waiting-for-approval') return age > approveWithinMilliseconds
    return !intent.confirmed && age > confirmWithinMilliseconds
  }

  return {
    attempt,
    async sweep() {
      for (const onboarding of await onboardings.unfinished()) {
        if (isStale(onboarding)) await onboardings.advance(onboarding.id, 'abandoned')
        else if (onboarding.state !== 'waiting-for-approval') await attempt(onboarding.id)
      }
    },
    definition: {
      name: 'broker-onboarding',
      for: tenant,
      wakesOnStatus: true,
      concurrency: 2,
      resyncMilliseconds: 0,
      async reconcile({ key }) {
        const ofTenant = (await onboardings.unfinished()).filter(({ intent }) => intent.tenantName === key.name)
        const progress = await Promise.all(ofTenant.map(({ id }) => advance(id)))
        return progress.includes('waiting') ? requeueAfter(waitMilliseconds) : done
      },
    },
  }
}
