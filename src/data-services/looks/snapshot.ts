// What a look found, for who decides whether anything has to be done. Only that nothing has to be done may rest on it: whatever
// makes, changes, ends or proves something asks the server itself. Pure.
import type { Followed } from '../adapters/postgresql/changes.ts'
import type { Look, LookedDatabase } from '../adapters/postgresql/look.ts'
import type { ServerFacts } from '../adapters/postgresql/server-check.ts'

export type Snapshot = {
  readonly server: ServerFacts
  /** Undefined when it is not there, was not asked about, or this process changed it since. */
  readonly database: (id: string) => LookedDatabase | undefined
  /** Undefined when this process changed the login since. */
  readonly mayLogIn: (login: string) => boolean | undefined
  /** When the next look is due, in milliseconds from now. */
  readonly restMilliseconds: number
}

/** `changed`: since before the look began. */
export function snapshotOf(look: Look, changed: Pick<Followed, 'has'>, restMilliseconds: number): Snapshot {
  return {
    server: look.server,
    database: id => (changed.has(id) ? undefined : look.databases.get(id)),
    mayLogIn: login => (changed.has(login) ? undefined : look.logins.has(login)),
    restMilliseconds,
  }
}
