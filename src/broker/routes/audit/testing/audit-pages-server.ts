// The pages of the audit log over a store, with people whose rights are in their names.
import { expect } from 'vitest'
import type { Clock } from '../../../../lib/clock.ts'
import { AppError } from '../../../../lib/errors.ts'
import { silentLog } from '../../../../lib/testing/silent-log.ts'
import type { AuditLog } from '../../../../store/audit/audit-log.ts'
import { createWebServer, listen } from '../../../../web/server.ts'
import { createAuditReaders } from '../../../auditors/audit-readers.ts'
import type { Identities } from '../../tenants/identities.ts'
import { registerAuditPages } from '../index.ts'

/** By SubjectAccessReview: `all` reads everything, `acme` the namespace of that name, everybody else nothing. */
function mayRead(subject: string, namespace: string | undefined): boolean {
  return subject === 'all' || (namespace !== undefined && subject.replace(/^(hand|halted)-/, '') === namespace)
}

/** `hand-acme` has a binding and no part in a tenant; `halted-acme` is halted. */
const identityOf: Identities = async ({ subject }) => {
  if (subject.startsWith('hand-')) throw new AppError('forbidden', 'you have no role', { reason: 'NoRole' })
  if (subject.startsWith('halted-')) throw new AppError('forbidden', 'you are halted', { reason: 'Halted' })
  return { subject, groups: [] }
}

function tenant(name: string) {
  const account = { id: 1, login: name, type: 'Organization' as const, host: 'github.com' }
  return {
    ...{ apiVersion: 'tenancy.sekisho.dev/v1alpha1', kind: 'Tenant' },
    metadata: { name, creationTimestamp: '2020-01-01T00:00:00Z' },
    spec: { account, namespace: name, roles: [] },
  }
}

/** The tenants are acme and globex. `open` resolves to the answer for that person, or for nobody. */
export async function startAuditPages(audit: AuditLog, clock: Clock) {
  const server = await createWebServer({ log: silentLog })
  const context = {
    sessions: {
      personOf: async (request: { readonly headers: Readonly<Record<string, unknown>> }) => {
        const subject = request.headers['x-person']
        return typeof subject === 'string' ? { host: 'github.com', userId: 1, login: 'x', subject, csrf: 'c' } : undefined
      },
    },
    auditReaders: createAuditReaders({
      reviews: { allows: async (who, { namespace }) => 'subject' in who && mayRead(who.subject, namespace) },
      kube: { get: async () => expect.unreachable() },
      tenants: { list: () => [tenant('acme'), tenant('globex')] },
      clock,
    }),
    store: { audit },
    clock,
  }
  registerAuditPages(server, context, identityOf)
  const port = await listen(server, { host: '127.0.0.1', port: 0 })
  const open = async (path: string, who?: string) => {
    const headers = who === undefined ? {} : { 'x-person': who }
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers, redirect: 'manual' })
    return { status: answer.status, text: await answer.text(), location: answer.headers.get('location') }
  }
  return { open, close: () => server.close() }
}
