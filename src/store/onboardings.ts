// Onboarding intents: what was proved, and which of Tenant and Installation have been written, so that onboarding continues
// after a crash. It holds facts, never a secret; the broker decides what follows from a state. Everybody with an account at
// GitHub can make rows, so their number is bounded, per person and in all.
import { randomUUID } from 'node:crypto'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/errors.ts'
import type { JsonValue } from '../lib/json/canonical-json.ts'
import { defined } from '../lib/json/defined.ts'
import type { Leases } from './database/leases.ts'
import type { OnboardingRow, PrismaClient } from './generated/client.ts'

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** States in which an intent waits for somebody; nothing is done in them. */
const waitingStates = ['waiting-for-approval', 'needs-owner', 'proved', 'waiting-for-admin'] as const
/** States in which the platform goes on by itself. */
const activeStates = ['confirmed', 'tenant-written', 'installation-written'] as const
/** States that have not ended. */
export const openStates = [...waitingStates, ...activeStates] as const
const endedStates = ['finished', 'refused', 'abandoned'] as const
const onboardingStates = [...openStates, ...endedStates] as const

export type WaitingState = (typeof waitingStates)[number]
/**
 * A state of an intent. `waiting-for-approval`: an owner was asked on GitHub. `needs-owner`: the owner installed the App, and
 * has to onboard. `proved`: the person has to confirm. `waiting-for-admin`: confirmed, and a platform admin has to approve the
 * account. The active states follow in their order. `refused`: by a platform admin.
 */
export type OnboardingState = (typeof onboardingStates)[number]

/** What was proved. */
export type NewOnboarding = {
  readonly host: string
  /** The GitHub account (organisation or user) to onboard. */
  readonly accountId: number
  /** Absent until an owner has approved the installation. */
  readonly installationId?: number | undefined
  /** The person who gave the proof. */
  readonly userId: number
  /** Everything needed to continue after a crash: names, ceiling, roles, proof. Never a secret. */
  readonly data: { readonly [key: string]: JsonValue }
}

/** A stored intent. */
export type Onboarding = NewOnboarding & {
  readonly id: string
  readonly state: OnboardingState
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** A change of an intent. */
export type OnboardingChange = {
  readonly installationId?: number
  readonly data?: NewOnboarding['data']
  /** The state that the intent must be in: of two callers one succeeds. */
  readonly from?: OnboardingState
}

/** The port for onboarding intents. */
export type Onboardings = {
  /**
   * A proved intent replaces an earlier proved one of the person for the same account. Rejects with `too_many_requests` when
   * five others of the person wait, and with `unavailable` when 10,000 wait in all.
   */
  readonly begin: (intent: NewOnboarding & { readonly state: 'waiting-for-approval' | 'proved' }) => Promise<Onboarding>
  /** Rejects with `not_found` when the intent does not exist, and with `conflict` when it is in another state than `from`. */
  readonly advance: (id: string, state: OnboardingState, change?: OnboardingChange) => Promise<Onboarding>
  /** Undefined for an unknown id, also for one that is not a UUID. */
  readonly find: (id: string) => Promise<Onboarding | undefined>
  /** Up to 1000 intents in active states, oldest first. What waits for people is not among them, however many there are. */
  readonly active: () => Promise<readonly Onboarding[]>
  /** Up to 1000 intents that wait for a platform admin, oldest first. */
  readonly waitingForAdmin: () => Promise<readonly Onboarding[]>
  /** How many intents are in each state that has not ended. */
  readonly counts: () => Promise<ReadonlyMap<OnboardingState, number>>
  /** The newest 50 intents of a person, whatever their state. */
  readonly ofPerson: (host: string, userId: number) => Promise<readonly Onboarding[]>
  /** Abandons the intents in a state that were last changed before `before`; returns how many. */
  readonly abandon: (state: WaitingState, before: Date) => Promise<number>
  /** Deletes finished, refused and abandoned intents that were last changed before `before`; returns how many. */
  readonly deleteEndedBefore: (before: Date) => Promise<number>
}

type OnboardingsDeps = { readonly prisma: Pick<PrismaClient, 'onboardingRow'>; readonly clock: Clock; readonly leases: Leases }

const maxWaitingOfPerson = 5
const maxWaiting = 10_000
/** Ended intents that are kept of one person. */
const maxEndedOfPerson = 20
const maxListed = 1000
const lease = { leaseSeconds: 20, patienceSeconds: 10 }

/** Onboardings over Prisma. */
export function createOnboardings(deps: OnboardingsDeps): Onboardings {
  const { prisma, clock, leases } = deps
  const rows = prisma.onboardingRow

  const listed = async (states: readonly OnboardingState[]): Promise<readonly Onboarding[]> => {
    const where = { state: { in: [...states] } }
    return (await rows.findMany({ where, orderBy: { createdAt: 'asc' }, take: maxListed })).map(onboardingOf)
  }

  /** Deletes what the new intent replaces, and old ended ones; then checks the bounds. */
  const makeRoom = async ({ host, userId, accountId, state }: Parameters<Onboardings['begin']>[0]): Promise<void> => {
    const person = { host, userId: BigInt(userId) }
    if (state === 'proved') await rows.deleteMany({ where: { ...person, accountId: BigInt(accountId), state } })
    const ended = await rows.findMany({
      where: { ...person, state: { in: [...endedStates] } },
      orderBy: { updatedAt: 'desc' },
      skip: maxEndedOfPerson,
      take: maxListed,
      select: { id: true },
    })
    if (ended.length > 0) await rows.deleteMany({ where: { id: { in: ended.map(({ id }) => id) } } })
    const waiting = { in: [...waitingStates] }
    if ((await rows.count({ where: { ...person, state: waiting } })) >= maxWaitingOfPerson)
      throw new AppError(
        'too_many_requests',
        `you have ${maxWaitingOfPerson} onboardings that wait: complete or withdraw one at /onboard`,
      )
    if ((await rows.count({ where: { state: waiting } })) >= maxWaiting)
      throw new AppError('unavailable', 'too many onboardings are waiting: try again later', { retryAfterSeconds: 3600 })
  }

  return {
    begin: intent =>
      leases.withLease(`onboarding:${intent.host}:${intent.userId}`, lease, async () => {
        await makeRoom(intent)
        const { host, accountId, installationId, userId, data, state } = intent
        const now = clock.now()
        const row = await rows.create({
          data: {
            id: randomUUID(),
            state,
            host,
            accountId: BigInt(accountId),
            installationId: installationId === undefined ? null : BigInt(installationId),
            userId: BigInt(userId),
            data,
            createdAt: now,
            updatedAt: now,
          },
        })
        return onboardingOf(row)
      }),
    async advance(id, state, change = {}) {
      const { count } = await rows.updateMany({
        where: { id, ...defined({ state: change.from }) },
        data: {
          state,
          updatedAt: clock.now(),
          ...(change.installationId === undefined ? {} : { installationId: BigInt(change.installationId) }),
          ...defined({ data: change.data }),
        },
      })
      const row = await rows.findUnique({ where: { id } })
      if (row === null) throw new AppError('not_found', 'there is no such onboarding')
      if (count === 0) throw new AppError('conflict', `the onboarding is ${row.state} by now: reload the page`)
      return onboardingOf(row)
    },
    async find(id) {
      if (!uuid.test(id)) return undefined
      const row = await rows.findUnique({ where: { id } })
      return row === null ? undefined : onboardingOf(row)
    },
    active: () => listed(activeStates),
    waitingForAdmin: () => listed(['waiting-for-admin']),
    async counts() {
      const groups = await rows.groupBy({ by: ['state'], where: { state: { in: [...openStates] } }, _count: true })
      return new Map(openStates.map(state => [state, groups.find(group => group.state === state)?._count ?? 0]))
    },
    async ofPerson(host, userId) {
      const found = await rows.findMany({ where: { host, userId: BigInt(userId) }, orderBy: { createdAt: 'desc' }, take: 50 })
      return found.map(onboardingOf)
    },
    async abandon(state, before) {
      const data = { state: 'abandoned', updatedAt: clock.now() }
      return (await rows.updateMany({ where: { state, updatedAt: { lt: before } }, data })).count
    },
    async deleteEndedBefore(before) {
      return (await rows.deleteMany({ where: { state: { in: [...endedStates] }, updatedAt: { lt: before } } })).count
    },
  }
}

function onboardingOf(row: OnboardingRow): Onboarding {
  const state = onboardingStates.find(known => known === row.state)
  if (state === undefined) throw new AppError('integrity_violation', 'an onboarding is in a state that does not exist')
  return {
    id: row.id,
    state,
    host: row.host,
    accountId: Number(row.accountId),
    ...(row.installationId === null ? {} : { installationId: Number(row.installationId) }),
    userId: Number(row.userId),
    data: row.data as NewOnboarding['data'],
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  }
}
