// Our admission server as a process: the server, limits and full rule set of production with a given certificate, without the
// loop that renews it. Usage: certificate.pem key.pem
import { readFileSync } from 'node:fs'
import { createReviewServer } from '../../../src/admission/review-server.ts'
import { SecretString } from '../../../src/lib/secret-string.ts'
import { silentLog } from '../../../src/lib/testing/silent-log.ts'
import { createCertificate } from '../../../src/web/tls.ts'
import { serveCommands } from '../harness/command-server.ts'

const [certificatePath = '', keyPath = ''] = process.argv.slice(2)
const certificate = createCertificate({
  certificate: readFileSync(certificatePath, 'utf8'),
  privateKey: new SecretString(readFileSync(keyPath, 'utf8')),
})
const server = createReviewServer({ log: silentLog, certificate })
const port = await server.listen({ host: '127.0.0.1', port: 0 })
await serveCommands(async () => ({ port }))
process.exit(0)
