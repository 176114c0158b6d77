// The onboardings of the store with their intent as a typed value: what is remembered between the proof and the last object, so
// that it survives a crash. The only place that parses or writes the store's JSON; JSON that is not an intent is an
// `integrity_violation`.
import type { Installation } from '../../api/github/installation.ts'
import { AppError, messageOf } from '../../lib/errors.ts'
import { canonicalJson, type JsonValue } from '../../lib/json/canonical-json.ts'
import { defined } from '../../lib/json/defined.ts'
import { objectAt, textAt } from '../../lib/json/json-value.ts'
import type { Log } from '../../lib/log.ts'
import type { NewOnboarding, Onboarding, OnboardingState, Onboardings, WaitingState } from '../../store/onboardings.ts'

type Spec = Installation['spec']
export type ChosenTeam = { readonly id: number; readonly slug: string }

export type OnboardingIntent = {
  readonly app: string
  readonly account: Spec['account']
  readonly boundBy: Spec['boundBy']
  /** Absent until an owner has approved the installation. */
  readonly proof?: Spec['proof']
  readonly ceiling?: Spec['ceiling']
  /** Teams whose members become developers. */
  readonly teams: readonly ChosenTeam[]
  /** When it began to be carried out: when the person confirmed it, or a platform admin approved it. */
  readonly confirmedAt?: string
  /** Of a request at an owner: the installation by which one of them answered it, where GitHub said so. */
  readonly approvedInstallationId?: number
  /** Chosen before the Tenant is created. */
  readonly tenantName?: string
}

export type ProvedIntent = OnboardingIntent & { readonly proof: Spec['proof']; readonly ceiling: Spec['ceiling'] }

/** An onboarding of the store; its JSON was parsed when it was read. */
export type OnboardingRecord<Intent = OnboardingIntent> = Omit<Onboarding, 'data'> & {
  readonly intent: Intent
  /** The text that the person sees: why it ended or waits, and what to do. */
  readonly note?: string
}

export type ProvedOnboarding = OnboardingRecord<ProvedIntent>

type NewRecord = Omit<NewOnboarding, 'data'> & {
  readonly intent: OnboardingIntent
  readonly state: 'waiting-for-approval' | 'proved'
}

type Change = { readonly intent?: OnboardingIntent; readonly note?: string }

export type OnboardingRecords = {
  /** Stores a new onboarding and resolves to its id. Rejects with `too_many_requests` when too many of the person's wait. */
  readonly begin: (record: NewRecord) => Promise<string>
  /**
   * Moves on to a state, and replaces the intent when one is given. Of two callers one succeeds: rejects with `conflict` when
   * the record has left the state in which it was read, and with `not_found` when it is gone.
   */
  readonly move: (record: OnboardingRecord, state: OnboardingState, change?: Change) => Promise<void>
  /** Rejects with `integrity_violation` when the stored JSON is not an intent. */
  readonly find: (id: string) => Promise<OnboardingRecord | undefined>
  // In lists, a record that cannot be read is logged and left out: it delays no other.
  /** Confirmed and not finished, oldest first. */
  readonly active: () => Promise<readonly OnboardingRecord[]>
  /** Those that a platform admin has to decide, oldest first. */
  readonly waitingForAdmin: () => Promise<readonly OnboardingRecord[]>
  /** Those of a person, newest first. */
  readonly ofPerson: (host: string, userId: number) => Promise<readonly OnboardingRecord[]>
  /** Those that were last changed before `before` and are in this state end. */
  readonly abandon: (state: WaitingState, before: Date) => Promise<number>
}

/** The records over the rows of the store. A row whose JSON is not an intent is logged and left out of lists. */
export function createOnboardingRecords(onboardings: Onboardings, log: Pick<Log, 'error'>): OnboardingRecords {
  const readable = (found: readonly Onboarding[]): readonly OnboardingRecord[] =>
    found.flatMap(onboarding => {
      try {
        return [recordOf(onboarding)]
      } catch (error) {
        log.error({ onboarding: onboarding.id, error: messageOf(error) }, 'failed to read onboarding')
        return []
      }
    })
  return {
    begin: async ({ intent, ...record }) => (await onboardings.begin({ ...record, data: dataOf(intent) })).id,
    async find(id) {
      const found = await onboardings.find(id)
      return found && recordOf(found)
    },
    async move({ id, state: from, intent: known }, state, { intent = known, note } = {}) {
      await onboardings.advance(id, state, { from, data: dataOf(intent, note) })
    },
    active: async () => readable(await onboardings.active()),
    waitingForAdmin: async () => readable(await onboardings.waitingForAdmin()),
    ofPerson: async (host, userId) => readable(await onboardings.ofPerson(host, userId)),
    abandon: (state, before) => onboardings.abandon(state, before),
  }
}

/** The same record when its intent carries a proof; throws `integrity_violation` otherwise. */
export function provedRecord(record: OnboardingRecord): ProvedOnboarding {
  const { proof, ceiling } = record.intent
  if (proof !== undefined && ceiling !== undefined) return { ...record, intent: { ...record.intent, proof, ceiling } }
  throw new AppError('integrity_violation', `onboarding ${record.id} has no proof`)
}

function recordOf({ data, ...onboarding }: Onboarding): OnboardingRecord {
  const intent = objectAt(data, 'intent')
  const isIntent = objectAt(intent, 'account') && objectAt(intent, 'boundBy') && Array.isArray(intent?.['teams'])
  if (!isIntent) throw new AppError('integrity_violation', `the stored intent of onboarding ${onboarding.id} cannot be read`)
  const note = textAt(data, 'note')
  return { ...onboarding, intent: intent as unknown as OnboardingIntent, ...defined({ note }) }
}

function dataOf(intent: OnboardingIntent, note?: string): NewOnboarding['data'] {
  const plain: JsonValue = JSON.parse(JSON.stringify(intent))
  // Throws before anything is stored that has no canonical form.
  canonicalJson(plain)
  return { intent: plain, ...defined({ note }) }
}
