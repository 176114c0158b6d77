// Who changed or ended an object, as far as the log knows: the users who asked for it, whose requests are recorded before the API
// server does them (docs/adr/0078-who-changes-access.md). Unknown rather than wrong: a request that was refused looks the same,
// so several users are all named, and what was asked for at another time does not count. Reads only.
import type { AuditRecord } from '../../api/audit/audit-event.ts'
import { defined } from '../../lib/json/defined.ts'
import type { AuditEntry } from './audit-chain.ts'
import type { AuditLog } from './audit-log.ts'

/** For the details of a record, and its actor where there is one. */
export type Doer = {
  readonly actor: string | undefined
  readonly details: Pick<AuditRecord['details'], 'doer' | 'doerLogin' | 'doers' | 'doerUnknown'>
}

/** What is looked for: the object by its UID, and which of the requests about it could have done it. */
export type DoneTo = {
  readonly uid: string
  readonly isIt: (entry: AuditEntry) => boolean
}

/** Equal requests are counted for a minute from the first, and the clocks of two machines differ. */
const beforeMilliseconds = 90_000
const afterMilliseconds = 30_000
const maxEntries = 100
/** Requests of users that API servers tell, and what the broker does in the name of a person. */
const requests = ['access.changing', 'installation.replaced', 'tenant.offboarded', 'tenant.roles-changed'] as const
const maxNamed = 10

/** A deletion that the API server dates so, by metadata.deletionTimestamp; without a time at whatever time. */
export function deletionOf(uid: string, deletionTimestamp: string | undefined): DoneTo {
  const deleted = Date.parse(deletionTimestamp ?? '')
  return {
    uid,
    isIt({ action, at, outcome, details }) {
      if (action === 'installation.replaced') return true
      const isRequest = action === 'tenant.offboarded' || (action === 'access.changing' && details['operation'] === 'DELETE')
      if (!isRequest || outcome !== 'allowed') return false
      const after = Date.parse(at) - deleted
      return !(after > afterMilliseconds || after < -beforeMilliseconds)
    },
  }
}

/** The request that gave the object this generation, with this digest of its spec. */
export function changeTo(uid: string, { generation, specDigest }: { generation: number; specDigest: string }): DoneTo {
  return {
    uid,
    isIt: ({ action, outcome, details }) =>
      (action === 'access.changing' || (action === 'tenant.roles-changed' && outcome === 'allowed')) &&
      details['generation'] === generation &&
      details['specDigest'] === specDigest,
  }
}

/** Rejects when the log cannot be read. */
export async function findDoer(audit: Pick<AuditLog, 'list'>, { uid, isIt }: DoneTo): Promise<Doer> {
  // By their actions: of a grant that is used there are many others.
  const lists = await Promise.all(requests.map(action => audit.list({ uid, action, limit: maxEntries })))
  const entries = lists.flat().filter(isIt)
  const users = [...new Set(entries.map(({ actor }) => actor))]
  const [first, ...others] = users
  if (first === undefined) return { actor: undefined, details: { doerUnknown: unknownText } }
  if (others.length > 0) return { actor: undefined, details: { doers: users.slice(0, maxNamed) } }
  const login = entries.map(({ details }) => details['login']).find(text => typeof text === 'string')
  return { actor: first, details: { doer: first, ...defined({ doerLogin: login }) } }
}

const unknownText =
  'no request of a user is recorded: the platform or Kubernetes did it, or whoever did it was not recorded because the webhook or the audit log did not answer'
