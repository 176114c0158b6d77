// Decides when the steps of an onboarding run: at once when a person confirms, when its Tenant changes (the namespace was created), and
// periodically for what a crash left behind. A proof that is old by then is made again first. In this process one onboarding never advances twice
// at once; of two processes, one wins the API server's create.
import { tenant } from '../../api/tenancy/tenant.ts'
import { isKubeError } from '../../kube/client/errors.ts'
import { type ControllerDefinition, done, requeueAfter } from '../../kube/controller/controller.ts'
import { equalJitter } from '../../lib/backoff.ts'
import { BoundedMap } from '../../lib/bounded-map.ts'
import { isAppError, messageOf } from '../../lib/errors.ts'
import { redactTokens } from '../../lib/log.ts'
import { SingleFlight } from '../../lib/single-flight.ts'
import { type OnboardingRecord, type ProvedOnboarding, provedRecord } from './onboarding-records.ts'
import { advanceOnboarding, type Progress, type StepDeps } from './onboarding-steps.ts'
import type { OnboardingDeps } from './prove-binding.ts'
import { provedAgain } from './proved-again.ts'

export type OnboardingControllerDeps = StepDeps & OnboardingDeps & { readonly random: () => number }

export type OnboardingController = {
  /** One attempt now; never rejects. A failure is logged, and the Tenant's changes and `sweep` try again. */
  readonly attempt: (id: string) => Promise<void>
  /** Attempts every confirmed onboarding whose pause is over, and abandons those that waited too long for a person. */
  readonly sweep: () => Promise<void>
  /** Advances the onboardings of a tenant whenever the tenant changes. */
  readonly definition: ControllerDefinition
}

const minutes = (count: number): number => count * 60_000
const days = (count: number): number => minutes(count * 24 * 60)
/** How long each state lasts without a change. */
const lives = {
  proved: minutes(60),
  'waiting-for-approval': days(30),
  'needs-owner': days(30),
  'waiting-for-admin': days(30),
} as const
const waitingStates = ['proved', 'waiting-for-approval', 'needs-owner', 'waiting-for-admin'] as const
/** An onboarding that could not be completed for so long has to begin again. */
const activeLife = days(1)
/** Above this age a proof is made again before anything is created from it. */
const proofCountsMilliseconds = minutes(15)
const waitMilliseconds = 2000
const pause = { baseMilliseconds: 30_000, capMilliseconds: minutes(30) }
const mostFailures = 1000

type Failure = { readonly count: number; readonly until: number }

/** Add the definition to the manager before it starts. Attempts that fail are repeated by `sweep`, each time after a longer pause. */
export function createOnboardingController(deps: OnboardingControllerDeps): OnboardingController {
  const { onboardings, clock, log } = deps
  const flights = new SingleFlight<Progress>()
  const failures = new BoundedMap<Failure>(mostFailures)

  const advance = (id: string): Promise<Progress> =>
    flights.run(id, async () => {
      const found = await onboardings.find(id)
      if (found === undefined || !isActive(found)) return 'finished'
      const proved = await freshlyProved(deps, found)
      return proved === undefined ? 'finished' : advanceOnboarding(deps, proved)
    })

  const attempt = async (id: string): Promise<void> => {
    try {
      await advance(id)
      failures.delete(id)
    } catch (error) {
      const count = (failures.get(id)?.count ?? 0) + 1
      failures.set(id, { count, until: clock.now().getTime() + equalJitter(pause, count - 1, deps.random) })
      // The intent is still in the store: the next change of the Tenant or the sweep tries again.
      const isExpected = isAppError(error) || isKubeError(error)
      log.error({ onboarding: id, error: isExpected ? redactTokens(messageOf(error)) : error }, 'failed to advance onboarding')
    }
  }

  return {
    attempt,
    async sweep() {
      const now = clock.now().getTime()
      for (const state of waitingStates) await onboardings.abandon(state, new Date(now - lives[state]))
      for (const record of await onboardings.active()) {
        if (isTooOld(record, now))
          await onboardings.move(record, 'abandoned', { note: 'it could not be completed in a day: begin again' })
        else if ((failures.get(record.id)?.until ?? 0) <= now) await attempt(record.id)
      }
    },
    definition: {
      name: 'broker-onboarding',
      for: tenant,
      wakesOnStatus: true,
      concurrency: 2,
      resyncMilliseconds: 0,
      async reconcile({ key }) {
        const ofTenant = (await onboardings.active()).filter(({ intent }) => intent.tenantName === key.name)
        const progress = await Promise.all(ofTenant.map(({ id }) => advance(id)))
        return progress.includes('waiting') ? requeueAfter(waitMilliseconds) : done
      },
    },
  }
}

function isActive({ state }: OnboardingRecord): boolean {
  return state === 'confirmed' || state === 'tenant-written' || state === 'installation-written'
}

function isTooOld({ state, intent }: OnboardingRecord, now: number): boolean {
  // Once the Installation exists, only the audit record is missing: it is written however late it is.
  return state !== 'installation-written' && now - Date.parse(intent.confirmedAt ?? '') > activeLife
}

/** The record with a proof that still counts. Undefined when the person cannot prove the binding any more: the onboarding has ended then. */
async function freshlyProved(deps: OnboardingControllerDeps, found: OnboardingRecord): Promise<ProvedOnboarding | undefined> {
  const record = provedRecord(found)
  const age = deps.clock.now().getTime() - Date.parse(record.intent.proof.provedAt)
  if (found.state === 'installation-written' || age <= proofCountsMilliseconds) return record
  try {
    const intent = await provedAgain(deps, record)
    await deps.onboardings.advance(record.id, record.state, intent)
    return { ...record, intent }
  } catch (error) {
    if (!isAppError(error, 'forbidden') && !isAppError(error, 'unauthenticated')) throw error
    deps.log.info({ onboarding: record.id, code: error.code }, 'onboarding ended: its proof is old and cannot be renewed')
    await deps.onboardings.move(record, 'abandoned', { note: `the proof could not be renewed: ${error.message}` })
    return undefined
  }
}
