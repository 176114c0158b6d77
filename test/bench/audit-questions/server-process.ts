// The broker's routes about the audit log on loopback, over HTTP and over HTTPS for the command line, on the database that its
// environment names. What is not measured here is a sign-in: whoever asks is a platform admin.
import { createAuditServer } from '../../../src/broker/routes/api/audit/testing/audit-server.ts'
import { issueCertificate, makeCertificateAuthority } from '../../../src/identity/certificate-authority.ts'
import { loadIssuerKeys } from '../../../src/identity/oidc/issuer-keys.ts'
import { systemClock as clock } from '../../../src/lib/clock.ts'
import { reservePort } from '../../../src/lib/testing/reserved-port.ts'
import { silentLog as log } from '../../../src/lib/testing/silent-log.ts'
import { createAuditLog } from '../../../src/store/audit/audit-log.ts'
import { readStoreSettings } from '../../../src/store/config.ts'
import { connectServer } from '../../../src/store/database/database.ts'
import { listen, type WebServer } from '../../../src/web/server.ts'
import { createCertificate } from '../../../src/web/tls.ts'
import { serveCommands } from '../harness/command-server.ts'
import { usageOf } from '../harness/process-usage.ts'
import { registerBareExport } from './bare-export.ts'
import { fillLog } from './fill.ts'

type Command =
  | { readonly do: 'fill'; readonly entries: number; readonly planned: number }
  | { readonly do: 'serve' }
  | { readonly do: 'sessions' }

const { location } = readStoreSettings(process.env)
if (!('url' in location)) throw new Error('this bench needs a PostgreSQL')
const database = connectServer(location.url, log)
const audit = createAuditLog({ pool: database.pool, clock, log })
const host = '127.0.0.1'
const servers: WebServer[] = []

/** CPU seconds of each session until now, by its process; the database is on this machine. */
async function sessions(): Promise<Readonly<Record<string, number>>> {
  const { rows } = await database.pool.query<{ pid: number }>(
    "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'",
  )
  return Object.fromEntries(await Promise.all(rows.map(async ({ pid }) => [pid, (await usageOf(pid)).cpuSeconds] as const)))
}

/** What signs heads, and a certificate by an authority of its own. */
async function serveSecurely(): Promise<{ readonly issuer: string; readonly authority: string }> {
  const now = clock.now()
  const authority = await makeCertificateAuthority({ commonName: 'bench', now, lifetimeDays: 2 })
  const leaf = await issueCertificate({
    ...{ authority, now, commonName: 'broker', usage: 'server', lifetimeDays: 1 },
    ...{ dnsNames: [], ipAddresses: [host] },
  })
  const port = await reservePort()
  const publicUrl = new URL(`https://${host}:${port}`)
  const issuerKeys = await loadIssuerKeys({ getOrCreate: async (_, make) => make() }, clock, () => {})
  const certificate = createCertificate({ certificate: leaf.certificatePem, privateKey: leaf.privateKeyPem })
  const server = await createAuditServer({ audit, clock, publicUrl, issuerKeys, certificate })
  server.get('/oidc/jwks', async () => issuerKeys.publicKeys)
  servers.push(server)
  await listen(server, { host, port })
  return { issuer: publicUrl.origin, authority: authority.certificatePem }
}

async function serve(): Promise<object> {
  const server = await createAuditServer({ audit, clock })
  registerBareExport(server, database.pool)
  servers.push(server)
  return { port: await listen(server, { host, port: 0 }), ...(await serveSecurely()) }
}

async function answer(command: Command): Promise<object> {
  switch (command.do) {
    case 'fill':
      await fillLog(database.pool, { entries: command.entries, planned: command.planned, now: clock.now() })
      return {}
    case 'serve':
      return serve()
    case 'sessions':
      return sessions()
  }
}

// The parent is this bench: its commands have the declared form.
await serveCommands(command => answer(command as Command))
for (const server of servers) await server.close()
await database.close()
process.exit(0)
