// Onboarding intents: what was proved, and which of Tenant and Installation have been written, so that onboarding continues after a crash.
// It holds facts, never a secret; the broker decides what follows from a state.
import { randomUUID } from 'node:crypto'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/errors.ts'
import type { JsonValue } from '../lib/json/canonical-json.ts'
import type { OnboardingRow, PrismaClient } from './generated/client.ts'

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** In the order in which an intent passes them; `abandoned` ends it from any other. */
const onboardingStates = [
  'waiting-for-approval',
  'proved',
  'tenant-written',
  'installation-written',
  'finished',
  'abandoned',
] as const
/** A state of an intent. */
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

/** The port for onboarding intents. */
export type Onboardings = {
  readonly begin: (intent: NewOnboarding & { readonly state: 'waiting-for-approval' | 'proved' }) => Promise<Onboarding>
  /** Sets the state and optionally more facts. Throws `not_found` when the intent does not exist. */
  readonly advance: (
    id: string,
    state: OnboardingState,
    change?: { readonly installationId?: number; readonly userId?: number; readonly data?: NewOnboarding['data'] },
  ) => Promise<Onboarding>
  /** Undefined for an unknown id, also for one that is not a UUID. */
  readonly find: (id: string) => Promise<Onboarding | undefined>
  /** Up to 1000 intents that are neither finished nor abandoned, oldest first. */
  readonly unfinished: () => Promise<readonly Onboarding[]>
}

type OnboardingsDeps = { readonly prisma: PrismaClient; readonly clock: Clock }

/** Onboardings over Prisma. */
export function createOnboardings(deps: OnboardingsDeps): Onboardings {
  const { prisma, clock } = deps
  return {
    async begin({ host, accountId, installationId, userId, data, state }) {
      const now = clock.now()
      const row = await prisma.onboardingRow.create({
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
    },
    async advance(id, state, change = {}) {
      const { count } = await prisma.onboardingRow.updateMany({
        where: { id },
        data: {
          state,
          updatedAt: clock.now(),
          ...(change.installationId === undefined ? {} : { installationId: BigInt(change.installationId) }),
          ...(change.userId === undefined ? {} : { userId: BigInt(change.userId) }),
          ...(change.data === undefined ? {} : { data: change.data }),
        },
      })
      const row = count === 1 ? await prisma.onboardingRow.findUnique({ where: { id } }) : null
      if (row === null) throw new AppError('not_found', 'there is no such onboarding')
      return onboardingOf(row)
    },
    async find(id) {
      if (!uuid.test(id)) return undefined
      const row = await prisma.onboardingRow.findUnique({ where: { id } })
      return row === null ? undefined : onboardingOf(row)
    },
    async unfinished() {
      const rows = await prisma.onboardingRow.findMany({
        where: { state: { notIn: ['finished', 'abandoned'] } },
        orderBy: { createdAt: 'asc' },
        take: 1000,
      })
      return rows.map(onboardingOf)
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
