// What a Halt of a person would end at the broker, beside tokens and grants: only platform admins may count it, and whoever may
// not is told what kinds end. A Halt of a tenant's admin ends none of it.
import { userSubject } from '../../../api/names.ts'
import { AppError, isAppError } from '../../../lib/errors.ts'
import { integerAt, isJsonObject, textAt } from '../../../lib/json/json-value.ts'
import type { ClusterContext } from '../cluster-context.ts'
import type { Target } from './target.ts'

type Person = NonNullable<Target['person']>
type Counts = { readonly webSessions: number; readonly programs: number; readonly onboardings: number }

/** Nobody can count ID tokens: they are stored nowhere. */
export type EndsOfPerson = { readonly idTokens: 'AtNextUse' } & (
  | ({ readonly counted: true } & Counts)
  | { readonly counted: false; readonly why: string }
)

/** Asks the platform. Rejects with what is no answer about this person: an answer of another form, or a defect. */
export async function readEndsOfPerson({ api }: Pick<ClusterContext, 'api'>, { host, id }: Person): Promise<EndsOfPerson> {
  const user = userSubject(host, id)
  try {
    const answer = await (await api()).json('/api/v1/sessions/person', new URLSearchParams({ user }))
    return { idTokens: 'AtNextUse', counted: true, ...countsIn(answer, user) }
  } catch (error) {
    // A dry run says what it can: a person without a login, or who is no platform admin, or a broker that is away.
    if (!isAppError(error) || error.code === 'upstream_failed') throw error
    return { idTokens: 'AtNextUse', counted: false, why: error.message }
  }
}

function countsIn(answer: unknown, user: string): Counts {
  const number = (field: keyof Counts) => (isJsonObject(answer) ? integerAt(answer, field) : undefined)
  const [webSessions, programs, onboardings] = [number('webSessions'), number('programs'), number('onboardings')]
  const isOfPerson = isJsonObject(answer) && textAt(answer, 'user') === user
  if (isOfPerson && webSessions !== undefined && programs !== undefined && onboardings !== undefined)
    return { webSessions, programs, onboardings }
  throw new AppError('upstream_failed', 'the response of the platform is not valid: is this sekisho up to date?')
}

/** For people, as the second line of a dry run. */
export function endsText(ends: EndsOfPerson): string {
  const idTokens = 'ID tokens that were issued count no longer at their next use'
  if (!ends.counted)
    return `every web session, every sign-in of a program and every onboarding that waits or is in progress would end (not counted: ${ends.why}); ${idTokens}`
  return `would end: web sessions: ${ends.webSessions}, sign-ins of programs: ${ends.programs}, onboardings that wait or are in progress: ${ends.onboardings}; ${idTokens}`
}
