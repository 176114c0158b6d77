// What the forms of the audit pages ask for. Fields that were left empty arrive as empty text; times are in UTC.
import { type Static, Type } from '@fastify/type-provider-typebox'
import { auditGroupNames } from '../../../api/audit/audit-groups.ts'
import { parseUserSubject } from '../../../api/names.ts'
import { AppError } from '../../../lib/errors.ts'
import type { AuditLog } from '../../../store/audit/audit-log.ts'
import { findNamed } from '../../audit/named.ts'
import { namespaceText } from '../field-schemas.ts'

const empty = Type.Literal('')
const orEmpty = <T extends ReturnType<typeof Type.String>>(type: T) => Type.Optional(Type.Union([empty, type]))
const name = orEmpty(Type.String({ minLength: 1, maxLength: 200 }))
/** As `<input type="datetime-local">` sends it. */
const localTime = orEmpty(Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d(:\\d\\d)?$' }))
const common = { namespace: orEmpty(namespaceText), since: localTime, until: localTime }

export const auditQuery = Type.Object({
  ...common,
  what: Type.Optional(Type.Union([empty, ...auditGroupNames.map(group => Type.Literal(group))])),
  person: name,
  repository: name,
  before: orEmpty(Type.String({ pattern: '^[1-9][0-9]{0,14}$' })),
})
export type AuditAsked = Static<typeof auditQuery>

export const accessQuery = Type.Object({
  ...common,
  of: Type.Optional(Type.Union([Type.Literal('repository'), Type.Literal('person'), Type.Literal('workload')])),
  name,
})
export type AccessAsked = Static<typeof accessQuery>

export const tokensQuery = Type.Object({ namespace: common.namespace, person: name, repository: name })
export type TokensAsked = Static<typeof tokensQuery>

/** Throws `invalid_request` for a date that no calendar has. */
export function timeOf(field: string, text: string | undefined): Date | undefined {
  if (text === undefined || text === '') return undefined
  const at = new Date(`${text}Z`)
  if (!Number.isNaN(at.getTime())) return at
  throw new AppError('invalid_request', `${field}: there is no such time`)
}

type Names = Pick<AuditLog, 'names'>

/** A number, or a name that a repository has or had. */
export async function repositoryIdOf(audit: Names, text: string, namespace: string | undefined): Promise<number> {
  if (/^[1-9][0-9]{0,14}$/.test(text)) return Number(text)
  return Number(await idOf(audit, 'repository', text, namespace))
}

/** A subject as the log has it, or a login that somebody has or had. */
export async function subjectOf(audit: Names, text: string, namespace: string | undefined): Promise<string> {
  return parseUserSubject(text) === undefined ? idOf(audit, 'person', text, namespace) : text
}

async function idOf(audit: Names, kind: 'person' | 'repository', text: string, namespace: string | undefined): Promise<string> {
  const { matches, near } = findNamed(await audit.names(kind, namespace), text)
  const [one, ...others] = matches
  if (one !== undefined && others.length === 0) return one.id
  if (one !== undefined)
    throw new AppError('invalid_request', `several had the name ${text}: write one of ${matches.map(({ id }) => id).join(', ')}`)
  const hint = near.length === 0 ? 'the log names nothing like it' : `did you mean ${near.join(', ')}?`
  throw new AppError('invalid_request', `the log knows no ${kind} ${text}: ${hint}`)
}
