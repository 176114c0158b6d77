// Our authorizer as a process: the server, limits and decision of production with a given certificate. API servers are not asked
// for theirs, which costs only when a connection begins. Usage: certificate.pem key.pem
import { readFileSync } from 'node:fs'
import { Registry } from 'prom-client'
import { createAuthorizerMetrics } from '../../../src/authorizer/metrics.ts'
import { accessOf } from '../../../src/authorizer/named-subjects.ts'
import { createAuthorizerServer } from '../../../src/authorizer/server.ts'
import { SecretString } from '../../../src/lib/secret-string.ts'
import { silentLog } from '../../../src/lib/testing/silent-log.ts'
import { createCertificate } from '../../../src/web/tls.ts'
import { serveCommands } from '../harness/command-server.ts'

const [certificatePath = '', keyPath = ''] = process.argv.slice(2)
const certificate = createCertificate({
  certificate: readFileSync(certificatePath, 'utf8'),
  privateKey: new SecretString(readFileSync(keyPath, 'utf8')),
})
const access = accessOf({ readers: '', namespaces: '' })
const { answered } = createAuthorizerMetrics(new Registry(), () => certificate.current().certificate)
const server = createAuthorizerServer({ log: silentLog, certificate, clientNames: [], access: () => access, answered })
const port = await server.listen({ host: '127.0.0.1', port: 0 })
await serveCommands(async () => ({ port }))
process.exit(0)
