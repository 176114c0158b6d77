// Decides when the steps of an onboarding run: when a person confirms, when its Tenant changes (the namespace was created) or
// its former Installation (it is gone), and after a pause when one failed. Only the leader takes them, and its client refuses
// writes once it is deposed, so that two replicas never choose two names for one account; what another replica confirmed is in
// the store, where the leader finds it. A proof that is old by then is made again first.
import { installation } from '../../api/github/installation.ts'
import { tenant } from '../../api/tenancy/tenant.ts'
import { isKubeError } from '../../kube/client/errors.ts'
import { type ControllerDefinition, done, requeueAfter, watches } from '../../kube/controller/controller.ts'
import { equalJitter } from '../../lib/backoff.ts'
import { BoundedMap } from '../../lib/bounded-map.ts'
import { isAppError, messageOf } from '../../lib/errors.ts'
import { createKeyedMutex } from '../../lib/limits/keyed-mutex.ts'
import { redactTokens } from '../../lib/log.ts'
import { type Periodic, periodic } from '../../lib/periodic.ts'
import { SingleFlight } from '../../lib/single-flight.ts'
import { type OnboardingRecord, type ProvedOnboarding, provedRecord } from './onboarding-records.ts'
import { advanceOnboarding, type Progress, type StepDeps } from './onboarding-steps.ts'
import type { OnboardingDeps } from './prove-binding.ts'
import { provedAgain } from './proved-again.ts'

export type OnboardingControllerDeps = StepDeps &
  OnboardingDeps & {
    /** False on a replica that does not lead. `kube` must refuse writes then. */
    readonly isLeader: () => boolean
    readonly random: () => number
  }

export type OnboardingController = {
  /**
   * One attempt now, if this replica leads; the leader's search finds it otherwise. Never rejects: a failure is logged and
   * tried again.
   */
  readonly attempt: (id: string) => Promise<void>
  /** The leader's search for confirmed onboardings that another replica, an earlier leader or a failed attempt left. Start it. */
  readonly search: Pick<Periodic, 'start' | 'stop'>
  /** Abandons those that waited too long for a person. */
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
const searchMilliseconds = 2000
/** One that waits for its Tenant or a former Installation is woken by them; this is for a change that nobody saw. */
const cooldownMilliseconds = 30_000
const pause = { baseMilliseconds: 30_000, capMilliseconds: minutes(30) }
/** As many as a search reads. */
const maxRemembered = 1000

type Cooldown = { readonly failures: number; readonly until: number }

// Memory (onboardings that rest): onboarding → when it is tried again after a failure or a wait
//   life: until it is finished or the process ends
//   bound: 1,000, the oldest forgotten first
//   freshness: the end of the onboarding
//   replicas: leader only; the next tries all at once

// Memory (onboardings in progress): onboarding → its attempt; GitHub account → attempts that wait for each other
//   life: until it settles
//   bound: attempts in progress
//   freshness: its end
//   replicas: leader only
/**
 * Add the definition to the manager before it starts. Attempts that fail are repeated by `search`, each time after a longer
 * pause.
 */
export function createOnboardingController(deps: OnboardingControllerDeps): OnboardingController {
  const { onboardings, isLeader, clock, log } = deps
  const flights = new SingleFlight<Progress>()
  const mutex = createKeyedMutex()
  const cooldowns = new BoundedMap<Cooldown>(maxRemembered)

  const advance = (id: string): Promise<Progress> =>
    flights.run(id, async () => {
      const known = await onboardings.find(id)
      if (known === undefined) return 'finished'
      // Two onboardings of one account would otherwise both look for a free name, and find two.
      return mutex.run(`${known.host} ${known.accountId}`, async () => {
        const found = await onboardings.find(id)
        if (found === undefined || !isActive(found)) return 'finished'
        if (await endedByHalt(deps, found)) return 'finished'
        const proved = await freshlyProved(deps, found)
        return proved === undefined ? 'finished' : advanceOnboarding(deps, proved)
      })
    })

  const coolDown = (id: string, failures: number, milliseconds: number): void => {
    cooldowns.set(id, { failures, until: clock.now().getTime() + milliseconds })
  }

  const attempt = async (id: string): Promise<void> => {
    if (!isLeader()) return
    try {
      if ((await advance(id)) === 'waiting') coolDown(id, 0, cooldownMilliseconds)
      else cooldowns.delete(id)
    } catch (error) {
      const failures = (cooldowns.get(id)?.failures ?? 0) + 1
      coolDown(id, failures, equalJitter(pause, failures - 1, deps.random))
      // The intent is still in the store: the next change of the Tenant or the search tries again.
      const isExpected = isAppError(error) || isKubeError(error)
      log.error({ onboarding: id, error: isExpected ? redactTokens(messageOf(error)) : error }, 'failed to advance onboarding')
    }
  }

  const searchOnce = async (): Promise<void> => {
    const now = clock.now().getTime()
    for (const record of await onboardings.active()) {
      if (!isLeader()) return
      if (isTooOld(record, now))
        await onboardings.move(record, 'abandoned', { note: 'it could not be completed in a day: begin again' })
      else if ((cooldowns.get(record.id)?.until ?? 0) <= now) await attempt(record.id)
    }
  }

  return {
    attempt,
    search: periodic({
      name: 'search for onboardings',
      everyMilliseconds: searchMilliseconds,
      work: searchOnce,
      enabled: isLeader,
      clock,
      log,
    }),
    async sweep() {
      const now = clock.now().getTime()
      for (const state of waitingStates) await onboardings.abandon(state, new Date(now - lives[state]))
    },
    definition: {
      name: 'broker-onboarding',
      for: tenant,
      wakesOnStatus: true,
      // The namespace of a tenant's Installation has the tenant's name.
      watches: [
        watches(installation, ({ metadata }) => [{ name: metadata.namespace ?? '' }], {
          predicate: ({ new: present }) => present === undefined,
        }),
      ],
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

/** What somebody halted after it was confirmed ends before anything more is written. */
async function endedByHalt(deps: OnboardingControllerDeps, record: OnboardingRecord): Promise<boolean> {
  // Once the Installation exists, only the audit record is missing.
  if (record.state === 'installation-written') return false
  const halted = deps.haltOf(record.intent.account, record.userId)
  if (halted !== undefined) await deps.onboardings.move(record, 'abandoned', { note: halted })
  return halted !== undefined
}

function isTooOld({ state, intent }: OnboardingRecord, now: number): boolean {
  // Once the Installation exists, only the audit record is missing: it is written however late it is.
  return state !== 'installation-written' && now - Date.parse(intent.confirmedAt ?? '') > activeLife
}

/**
 * The record with a proof that still counts. Undefined when the person cannot prove the binding any more: the onboarding has
 * ended then.
 */
async function freshlyProved(deps: OnboardingControllerDeps, found: OnboardingRecord): Promise<ProvedOnboarding | undefined> {
  const record = provedRecord(found)
  const age = deps.clock.now().getTime() - Date.parse(record.intent.proof.provedAt)
  if (found.state === 'installation-written' || age <= proofCountsMilliseconds) return record
  try {
    const intent = await provedAgain(deps, record)
    await deps.onboardings.move(record, record.state, { intent })
    return { ...record, intent }
  } catch (error) {
    if (!isAppError(error, 'forbidden') && !isAppError(error, 'unauthenticated')) throw error
    deps.log.info({ onboarding: record.id, code: error.code }, 'onboarding ended: its proof is old and cannot be renewed')
    await deps.onboardings.move(record, 'abandoned', { note: `the proof could not be renewed: ${error.message}` })
    return undefined
  }
}
