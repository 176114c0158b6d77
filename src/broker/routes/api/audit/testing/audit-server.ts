// The routes about the audit log on a server of their own, over any log. Whoever asks is a person and has no sign-in: the bearer
// token is the subject.
import type { Clock } from '../../../../../lib/clock.ts'
import { AppError } from '../../../../../lib/errors.ts'
import { defined } from '../../../../../lib/json/defined.ts'
import { silentLog } from '../../../../../lib/testing/silent-log.ts'
import { createWebServer, type WebServer, type WebServerOptions } from '../../../../../web/server.ts'
import { createAuditReaders } from '../../../../auditors/audit-readers.ts'
import { type AuditContext, registerAudit } from '../index.ts'

type AuditServerOptions = {
  readonly audit: AuditContext['store']['audit']
  readonly clock: Clock
  /** RBAC, by the subject of who asks. By default everybody reads everything. */
  readonly mayRead?: (subject: string) => Promise<boolean>
  /** What signs heads, and for which address. By default nothing does. */
  readonly issuerKeys?: AuditContext['issuerKeys']
  readonly publicUrl?: URL
} & Pick<WebServerOptions, 'certificate'>

const unsigned: AuditContext['issuerKeys'] = { sign: async () => 'signed', publicKeys: { keys: [] } }

/** It does not listen yet. */
export async function createAuditServer(options: AuditServerOptions): Promise<WebServer> {
  const { audit, clock, mayRead = async () => true, issuerKeys = unsigned, certificate } = options
  const server = await createWebServer({ log: silentLog, ...defined({ certificate }) })
  registerAudit(server, {
    verifyIdToken: async subject => {
      const expiresAt = new Date(clock.now().getTime() + 600_000)
      return { subject, host: 'github.com', userId: 1, login: 'x', groups: [], tokenId: undefined, expiresAt }
    },
    clock,
    store: { audit },
    auditReaders: createAuditReaders({
      reviews: { allows: async who => 'subject' in who && (await mayRead(who.subject)) },
      kube: { get: () => Promise.reject(new AppError('internal', 'no ServiceAccount asks here')) },
      tenants: { list: () => [] },
      clock,
    }),
    serviceAccounts: { identify: async () => undefined },
    settings: { publicUrl: options.publicUrl ?? new URL('https://sekisho.example.com') },
    issuerKeys,
    losses: { kube: { get: async () => undefined } },
  })
  return server
}
