// What an onboarding remembers between the proof and the last object, so that it survives a crash in between. The parse boundary of the
// store's JSON: what does not read is an `integrity_violation`, never a guess.
import type { Installation } from '../../api/github/installation.ts'
import { AppError } from '../../lib/errors.ts'
import { canonicalJson, type JsonValue } from '../../lib/json/canonical-json.ts'
import type { NewOnboarding, Onboarding } from '../../store/onboardings.ts'

type Spec = Installation['spec']
export type ChosenTeam = { readonly id: number; readonly slug: string }

export type OnboardingIntent = {
  readonly app: string
  readonly account: Spec['account']
  readonly boundBy: Spec['boundBy']
  /** Absent while an owner has yet to approve. */
  readonly proof?: Spec['proof']
  readonly ceiling?: Spec['ceiling']
  /** Teams whose members become developers. */
  readonly teams: readonly ChosenTeam[]
  /** The person has looked at the roles and agreed; before that nothing is made. */
  readonly confirmed: boolean
  readonly tenantName?: string
}

export type ProvedIntent = OnboardingIntent & { readonly proof: Spec['proof']; readonly ceiling: Spec['ceiling'] }

export function intentData(intent: OnboardingIntent): NewOnboarding['data'] {
  const plain: JsonValue = JSON.parse(JSON.stringify(intent))
  // Also proves that every value has a canonical form before it is stored.
  canonicalJson(plain)
  return { intent: plain }
}

export function intentOf(onboarding: Onboarding): OnboardingIntent {
  const intent = onboarding.data['intent']
  if (typeof intent === 'object' && intent !== null && 'account' in intent && 'boundBy' in intent && 'teams' in intent)
    return intent as unknown as OnboardingIntent
  throw new AppError('integrity_violation', `onboarding ${onboarding.id} does not read as an intent`)
}

export function provedIntentOf(onboarding: Onboarding): ProvedIntent {
  const intent = intentOf(onboarding)
  const { proof, ceiling } = intent
  if (proof !== undefined && ceiling !== undefined) return { ...intent, proof, ceiling }
  throw new AppError('integrity_violation', `onboarding ${onboarding.id} has no proof`)
}
