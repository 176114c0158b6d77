// Our receiver as a process: the server and the route of the broker on a real store, at SEKISHO_DATABASE_URL or
// SEKISHO_DATA_FOLDER. Handling the deliveries is not part of it: it happens after the answer and is measured by push-to-url.
import cookie from '@fastify/cookie'
import formbody from '@fastify/formbody'
import { registerWebhooks } from '../../../src/broker/routes/webhooks/index.ts'
import { endpointsOf } from '../../../src/github/index.ts'
import { systemClock as clock } from '../../../src/lib/clock.ts'
import { SecretString } from '../../../src/lib/secret-string.ts'
import { silentLog as log } from '../../../src/lib/testing/silent-log.ts'
import { readStoreSettings } from '../../../src/store/config.ts'
import { connectServer, openEmbedded } from '../../../src/store/database/database.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { createWebServer, listen } from '../../../src/web/server.ts'
import { serveCommands } from '../harness/command-server.ts'
import { webhookSecret } from './push-deliveries.ts'

const { location, sealingKeys } = readStoreSettings(process.env)
const { broker: store } = await openStore({ ...location, sealingKeys, clock, log })
const headers = { formTargets: ['https://github.com', 'http://127.0.0.1:*'], strictTransport: true }
const server = await createWebServer({ log, clock, headers: () => headers })
await server.register(cookie)
await server.register(formbody, { bodyLimit: 65_536 })
await registerWebhooks(server, {
  settings: { webhookSecret: new SecretString(webhookSecret), formerWebhookSecret: undefined },
  store,
  github: { ourApps: () => ({ endpoints: endpointsOf({ host: 'github.com' }), signInAppId: 1, appIds: new Set([1]) }) },
  metrics: { ignoredDelivery: () => {}, formDelivery: () => {}, receivedDelivery: () => {}, refusedDelivery: () => {} },
  inbox: { wake: () => {} },
  clock,
  log,
})
const port = await listen(server, { host: '127.0.0.1', port: 0 })

/** The number of stored deliveries, after the process has closed the database and opened it again. */
async function keptDeliveries(): Promise<number> {
  await server.close()
  await store.close()
  const database = 'url' in location ? connectServer(location.url, log) : await openEmbedded(location.dataFolder, log)
  try {
    const { rows } = await database.pool.query<{ kept: number }>(
      'SELECT count(*)::int AS kept FROM broker.deliveries WHERE length(body) > 0',
    )
    return rows[0]?.kept ?? 0
  } finally {
    await database.close()
  }
}

// The parent is this bench: its commands have the declared form.
await serveCommands(async command => {
  const { do: what } = command as { readonly do: 'port' | 'kept' }
  return what === 'kept' ? { kept: await keptDeliveries() } : { port }
})
process.exit(0)
