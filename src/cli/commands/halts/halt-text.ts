// What `sekisho halt` says that ended, or would end. Pure.
import { shortActor } from '../../../api/audit/actor-text.ts'
import type { Halt } from '../../../api/github/halt.ts'
import { type EndsOfPerson, endsText } from './ends-of-person.ts'

type Target = Halt['spec']['target']

export type HaltAnswer = Pick<Halt['spec'], 'target'> & {
  readonly name: string
  readonly namespace: string | undefined
  readonly message: string
  readonly tokens: NonNullable<Halt['status']>['tokens']
  readonly grants: NonNullable<Halt['status']>['grants']
}

/** What a Halt is about, as people write it. */
export function targetText({ type, token, grant, repository, person, tenant, installation }: Target): string {
  const named = (id: number, name: string | undefined): string => (name === undefined ? String(id) : `${name} (${id})`)
  if (token) return `token ${token.id ?? token.hash}`
  if (grant) return `grant ${grant.namespace}/${grant.name}`
  if (repository) return `repository ${named(repository.id, repository.name)} on ${repository.host}`
  if (person) return `person ${named(person.id, person.login)} on ${person.host}`
  if (tenant) return `tenant ${tenant.name}`
  if (installation) return `installation ${installation.id} on ${installation.host}`
  return type.toLowerCase()
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`

/** Of a token: who had it may hold others under other grants, which live on. */
function refused({ target, grants }: HaltAnswer): string {
  if (target.token !== undefined) return 'who had it gets no other one under the same grant'
  const { count = 0, names = [] } = grants ?? {}
  const more = count > names.length ? ' and more' : ''
  return `no token any more under ${counted(count, 'grant')}${names.length === 0 ? '' : `: ${names.join(', ')}${more}`}`
}

/** Ends nothing; `ends`: what of a person would end at the broker. */
export function dryRunText(answer: HaltAnswer, ends: EndsOfPerson | undefined): string {
  const tokens = `${counted(answer.tokens?.left ?? 0, 'live token')} would be revoked`
  const line = `would halt ${targetText(answer.target)}: ${tokens}; ${refused(answer)}`
  return ends === undefined ? line : `${line}\n${endsText(ends)}`
}

export function haltedText(answer: HaltAnswer): string {
  const { name, namespace, message, target, tokens } = answer
  const { left = 0, revoked = 0 } = tokens ?? {}
  return [
    `halted ${targetText(target)}: ${counted(revoked, 'token')} revoked${left > 0 ? `; ${left} ${left === 1 ? 'is' : 'are'} left: ${message}` : ''}`,
    refused(answer),
    `lift it with: sekisho resume ${name} -n ${namespace} --reason TEXT`,
  ].join('\n')
}

/** Nobody calls an ID token back: it is refused only while the Halt of its person stands. */
export function liftedText({ target, requestedBy = '', reason }: Halt['spec'], dryRun: boolean): string {
  const lifted = `lifted ${targetText(target)}, which ${shortActor(requestedBy)} halted: ${reason}${dryRun ? ' (dry run)' : ''}`
  const idTokens = 'ID tokens of before the Halt count again until they expire, ten minutes after they were issued'
  return target.person === undefined ? lifted : `${lifted}\n${idTokens}`
}
