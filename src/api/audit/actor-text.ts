// How people and programs of the audit log read, on pages and on the command line. Pure.
import { asObject, textAt } from '../../lib/json/json-value.ts'

/** The login with the number on GitHub; `host/number`, as commands take it, where the login is not known. */
export function shortPerson(person: string, login: string | undefined): string {
  return login === undefined ? shortActor(person) : `${login} (${person.split('|').at(-1)})`
}

/** A ServiceAccount as `namespace/name`, a person as `host/number`. */
export function shortActor(actor: string): string {
  return actor.replace(/^system:serviceaccount:([^:]+):/, '$1/').replace(/^github\|([^|]+)\|/, '$1/')
}

/** The login as the entry knew it, else the part of the subject that tells people and ServiceAccounts apart. */
export function actorText(entry: Readonly<Record<string, unknown>>): string {
  const actor = textAt(entry, 'actor') ?? ''
  const details = asObject(entry['details'])
  const login = textAt(details, 'login')
  const isTheirs = (textAt(details, 'person') ?? actor) === actor
  return login !== undefined && isTheirs && actor.startsWith('github|') ? shortPerson(actor, login) : shortActor(actor)
}
