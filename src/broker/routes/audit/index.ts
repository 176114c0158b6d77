// `/audit`, `/audit/:sequence`, `/access` and `/tokens`: the audit log in the browser, for whoever may read it by RBAC
// (src/broker/auditors). Whoever may read nothing gets 404, as for a log that does not exist.
import { Type } from '@fastify/type-provider-typebox'
import { AppError, isAppError } from '../../../lib/errors.ts'
import { defined } from '../../../lib/json/defined.ts'
import type { AuditLog } from '../../../store/audit/audit-log.ts'
import type { WebServer } from '../../../web/server.ts'
import { type AccessSubject, answerAccess } from '../../auditors/answer-access.ts'
import { type AuditScope, noAuditLog } from '../../auditors/audit-readers.ts'
import { readLiveTokens } from '../../auditors/live-tokens.ts'
import type { BrokerContext } from '../../context.ts'
import { accessPage } from '../../pages/audit/access-page.ts'
import { auditPage } from '../../pages/audit/audit-page.ts'
import { entryPage } from '../../pages/audit/entry-page.ts'
import { tokensPage } from '../../pages/audit/tokens-page.ts'
import type { PersonSessions } from '../../sessions.ts'
import { auditFilter } from '../api/audit/scope.ts'
import { namespaceText } from '../field-schemas.ts'
import { perMinute } from '../limits.ts'
import { personOrSignIn, sendPage } from '../pages.ts'
import type { Identities } from '../tenants/identities.ts'
import {
  type AccessAsked,
  type AuditAsked,
  accessQuery,
  auditQuery,
  repositoryIdOf,
  subjectOf,
  type TokensAsked,
  timeOf,
  tokensQuery,
} from './asked.ts'
import { createPageScope } from './page-scope.ts'

/** On one page. */
const maxRows = 50
const maxTokens = 200
const hourMilliseconds = 3_600_000

/** What these pages need of the broker. */
export type AuditPagesContext = Pick<BrokerContext, 'auditReaders' | 'clock'> & {
  readonly sessions: Pick<PersonSessions, 'personOf'>
  readonly store: { readonly audit: Pick<AuditLog, 'list' | 'names'> }
}

/** The pages. */
export function registerAuditPages(server: WebServer, context: AuditPagesContext, identityOf: Identities): void {
  const { sessions, auditReaders, clock } = context
  const { audit } = context.store
  const scopeOf = createPageScope(auditReaders, identityOf)
  const config = perMinute(60)

  server.get('/audit', { schema: { querystring: auditQuery }, config }, async (request, reply) => {
    const person = await personOrSignIn(sessions, request, reply)
    if (person === undefined) return reply
    const asked = request.query
    const scope = await scopeOf(person, asked.namespace || undefined)
    const found = await entriesFor(asked, scope).catch(problemOf)
    if ('problem' in found) reply.code(400)
    return sendPage(reply, auditPage({ person, asked, maxRows, ...found }))
  })

  const params = Type.Object({ sequence: Type.String({ pattern: '^[1-9][0-9]{0,14}$' }) })
  const one = { schema: { params, querystring: Type.Object({ namespace: Type.Optional(namespaceText) }) }, config }
  server.get('/audit/:sequence', one, async (request, reply) => {
    const person = await personOrSignIn(sessions, request, reply)
    if (person === undefined) return reply
    const { namespace } = request.query
    const scope = await scopeOf(person, namespace)
    const sequence = Number(request.params.sequence)
    const [entry] = await audit.list({ ...scope, after: sequence - 1, before: sequence + 1, limit: 1 })
    if (entry === undefined) throw noAuditLog()
    return sendPage(reply, entryPage({ person, entry, within: namespace }))
  })

  server.get('/access', { schema: { querystring: accessQuery }, config }, async (request, reply) => {
    const person = await personOrSignIn(sessions, request, reply)
    if (person === undefined) return reply
    const asked = request.query
    const scope = await scopeOf(person, asked.namespace || undefined)
    const found = asked.name === undefined || asked.name === '' ? {} : await accessFor(asked, asked.name, scope).catch(problemOf)
    if ('problem' in found) reply.code(400)
    return sendPage(reply, accessPage({ person, asked, ...found }))
  })

  server.get('/tokens', { schema: { querystring: tokensQuery }, config }, async (request, reply) => {
    const person = await personOrSignIn(sessions, request, reply)
    if (person === undefined) return reply
    const asked = request.query
    const scope = await scopeOf(person, asked.namespace || undefined)
    const now = clock.now()
    const found = await tokensFor(asked, scope, now).catch(problemOf)
    if ('problem' in found) reply.code(400)
    return sendPage(reply, tokensPage({ person, asked, maxRows: maxTokens, now, ...found }))
  })

  async function entriesFor(asked: AuditAsked, scope: AuditScope) {
    const { what, person, repository, before } = asked
    const [since, until] = [timeOf('since', asked.since), timeOf('until', asked.until)]
    const filters = defined({
      what: what || undefined,
      person: person ? await subjectOf(audit, person, scope.namespace) : undefined,
      repository: repository ? String(await repositoryIdOf(audit, repository, scope.namespace)) : undefined,
      since: since?.toISOString(),
      until: until?.toISOString(),
    })
    const page = before ? { before: Number(before) } : {}
    return { entries: await audit.list({ ...auditFilter(filters, scope), ...page, limit: maxRows }) }
  }

  async function tokensFor({ person, repository }: TokensAsked, scope: AuditScope, now: Date) {
    const about = defined({
      user: person ? await subjectOf(audit, person, scope.namespace) : undefined,
      repositoryId: repository ? await repositoryIdOf(audit, repository, scope.namespace) : undefined,
    })
    return { found: await readLiveTokens(audit, scope, now, about) }
  }

  async function accessFor(asked: AccessAsked, name: string, scope: AuditScope) {
    const now = clock.now()
    const until = timeOf('until', asked.until) ?? now
    const since = timeOf('since', asked.since) ?? new Date(until.getTime() - hourMilliseconds)
    if (since > until) throw new AppError('invalid_request', 'until must not be before since')
    const span = { since, until }
    const subject = await accessSubject(asked.of ?? 'repository', name, scope)
    return { span, answer: await answerAccess(audit, scope, subject, span) }
  }

  async function accessSubject(type: AccessSubject['type'], name: string, scope: AuditScope): Promise<AccessSubject> {
    if (type === 'repository') return { type, id: await repositoryIdOf(audit, name, scope.namespace) }
    if (type === 'person') return { type, subject: await subjectOf(audit, name, scope.namespace) }
    const [namespace = '', account = '', ...more] = name.split('/')
    if (account === '' || more.length > 0) throw new AppError('invalid_request', 'write the workload as NAMESPACE/SERVICEACCOUNT')
    if (scope.namespace !== undefined && scope.namespace !== namespace)
      throw new AppError('invalid_request', `this is the log of the namespace ${scope.namespace}: the workload must be there`)
    return { type, namespace, name: account }
  }
}

/** What the person can mend is said above the form; everything else is an error of its own. */
function problemOf(error: unknown): { readonly problem: string } {
  if (isAppError(error, 'invalid_request')) return { problem: error.message }
  throw error
}
