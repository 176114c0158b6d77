// How people, programs and outcomes of the audit log read on pages. Pure.
import { asObject, textAt } from '../../../lib/json/json-value.ts'
import type { AuditEntry } from '../../../store/audit/audit-chain.ts'
import { type Html, html } from '../../../web/html.ts'
import { signed } from '../state/sign.ts'

/** The login with the number on GitHub; the subject where the login is not known. */
export function personText(subject: string, login: string | undefined): string {
  return login === undefined ? subject : `${login} (${subject.split('|').at(-1)})`
}

/** A ServiceAccount as `namespace/name`, a person as `personText` has it where the entry names the login. */
export function actorText({ actor, details }: Pick<AuditEntry, 'actor' | 'details'>): string {
  const facts = asObject(details)
  const login = textAt(facts, 'login')
  const isTheirs = (textAt(facts, 'person') ?? actor) === actor
  if (login !== undefined && isTheirs && actor.startsWith('github|')) return personText(actor, login)
  return accountText(actor)
}

export function accountText(actor: string): string {
  return actor.replace(/^system:serviceaccount:([^:]+):/, '$1/')
}

const classes = { allowed: 'ready', denied: 'intended', failed: 'failed' } as const

export function outcomeSign(outcome: AuditEntry['outcome']): Html {
  return html`${signed(classes[outcome], outcome)}`
}
