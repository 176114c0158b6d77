// Whether a PostgreSQL server can be shared by tenants, from what it said of itself. Pure.
import { serviceClassReasons as reasons, type ServiceClass } from '../../api/services/service-class.ts'
import type { Refusal } from '../../policy/check.ts'
import type { Snapshot } from '../looks/snapshot.ts'
import type { Answer } from '../providers/provider.ts'

/** Before it, everybody may create tables in the schema `public` of a new database. */
const oldestVersion = 150_000
/**
 * Of each major version the first without holes by which an ordinary login gets further: CVE-2023-2454, CVE-2023-5869,
 * CVE-2024-10979.
 */
const safeVersions: ReadonlyMap<number, number> = new Map([
  [15, 9],
  [16, 5],
  [17, 1],
])

/** What keeps the server from being shared. */
export function unsuitable(answer: Extract<Answer, { type: 'postgresql' }>): Refusal | undefined {
  const refuse = (reason: string, message: string): Refusal => ({ reason, message })
  const { version, versionNumber, acceptsWrites, isSuperuser, open } = answer
  if (versionNumber < oldestVersion)
    return refuse(reasons.serverUnsuitable, `the server is PostgreSQL ${version}; tenants can share one from version 15`)
  const [major, minor] = [Math.floor(versionNumber / 10_000), versionNumber % 10_000]
  const safe = safeVersions.get(major)
  if (safe !== undefined && minor < safe)
    return refuse(
      reasons.serverUnsuitable,
      `the server is PostgreSQL ${version}, in which a tenant can use known holes: update it to ${major}.${safe} or newer`,
    )
  if (!acceptsWrites) return refuse(reasons.serverUnsuitable, 'the server accepts no writes (a standby, or set to read only)')
  if (!isSuperuser) return refuse(reasons.rightsInsufficient, 'the account in adminSecret is not a superuser of the server')
  if (open.length > 0)
    return refuse(
      reasons.serverTooOpen,
      `every login can enter ${open.join(', ')}: as its owner, REVOKE CONNECT ON DATABASE … FROM PUBLIC`,
    )
  return undefined
}

/** The answer of a server that is as its class says; undefined: ask it, and close what is open. */
export function answerAtRest({ server }: Snapshot, { status }: Pick<ServiceClass, 'status'>): Answer | undefined {
  const answer = { type: 'postgresql' as const, ...server }
  return unsuitable(answer) === undefined && server.version === status?.version ? answer : undefined
}
