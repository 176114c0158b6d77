// Our side: the git proxy as it runs, with TLS, in front of the bench's git server. Who asks is not asked, and the token is
// made up: what the desk takes is in no clone's way for long. Usage: port of the git server, file for the authority
import { writeFileSync } from 'node:fs'
import { Registry } from 'prom-client'
import { systemClock } from '../../../src/lib/clock.ts'
import { createKeyedBuckets } from '../../../src/lib/limits/keyed-buckets.ts'
import { SecretString } from '../../../src/lib/secret-string.ts'
import { silentLog } from '../../../src/lib/testing/silent-log.ts'
import { createProxyMetrics } from '../../../src/services/git-proxy/metrics.ts'
import { gitProxyRoutes } from '../../../src/services/git-proxy/server/routes.ts'
import { createGitStreams } from '../../../src/services/git-proxy/streams/git-streams.ts'
import { createLoopTurns } from '../../../src/services/git-proxy/streams/loop-turns.ts'
import { createGitServer } from '../../../src/services/git-proxy/upstream/git-server.ts'
import { openTokenDeskCertificate } from '../../../src/services/token-desk/server/certificate.ts'
import { createWebServer, listen } from '../../../src/web/server.ts'
import { liveHeapBytes, serveCommands } from '../harness/command-server.ts'

const [gitPort = '', authorityFile = ''] = process.argv.slice(2)
const host = 'github.localhost'
const shared = { clock: systemClock, log: silentLog }
const keys = { find: async () => undefined, getOrCreate: async (_name: string, make: () => Promise<SecretString>) => make() }
const certificate = await openTokenDeskCertificate({
  ...{ ...shared, keys, audit: { appendOnce: async () => {} } },
  ...{ hosts: ['localhost'], generation: 1, overlapHours: 720 },
})
writeFileSync(authorityFile, certificate.authorities())
const subject = { kind: 'ServiceAccount', namespace: 'acme', name: 'runner', uid: 'uid' }
const desk = {
  grantUid: async () => 'uid',
  refusalNow: async () => undefined,
  request: async () => ({
    ...{
      token: new SecretString('ghs_made-up'),
      expiresAt: new Date(Date.now() + 3_600_000),
      renewFrom: new Date(Date.now() + 3_000_000),
      host,
    },
    endpoints: { host, web: `http://127.0.0.1:${gitPort}`, api: 'http://127.0.0.1:9' },
    ...{ repositories: [{ id: 1, fullName: 'acme/shop' }], permissions: { contents: 'write' } },
  }),
}
const registry = new Registry()
const streams = createGitStreams({ desk, ...shared })
const server = await createWebServer({
  log: silentLog,
  certificate,
  requestsPerMinute: 'unlimited',
  patience: { request: 600_000 },
})
await server.register(
  gitProxyRoutes({
    turns: createLoopTurns({ isDeskBusy: () => false }),
    ...{
      desk,
      streams,
      log: silentLog,
      github: createGitServer(systemClock),
      metrics: createProxyMetrics(registry, streams.size),
    },
    identify: async () => ({ subject, username: 'runner', from: { pod: { name: 'job', uid: 'uid' }, address: '127.0.0.1' } }),
    names: { find: async () => ({ id: 1, fullName: 'acme/shop' }), forget: () => {} },
    ...{ audit: { append: async () => {} }, counted: { append: async () => {} } },
    refs: createKeyedBuckets({ burst: 200, millisecondsPerToken: 1000 }, systemClock),
  }),
)
const port = await listen(server, { host: '127.0.0.1', port: 0 })
streams.start()
await serveCommands(async () => ({ port, heapBytes: liveHeapBytes() }))
process.exit(0)
