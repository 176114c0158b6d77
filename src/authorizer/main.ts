// The authorizer as a process of its own: a pure decision behind TLS. It holds its serving certificate and nothing else; every
// replica answers.
import { processEnvironment, readTogether } from '../lib/config.ts'
import { openBareProcess } from '../process/bare-process.ts'
import { readProcessSettings } from '../process/config.ts'
import { runUntilStopped } from '../process/run.ts'
import { replicaDrain } from '../web/drained-server.ts'
import { certificateFromFiles } from '../web/tls.ts'
import { accessFromFiles } from './access-files.ts'
import { createAuthorizerApp } from './app.ts'
import { readAuthorizerSettings } from './config.ts'
import { createAuthorizerMetrics } from './metrics.ts'

const environment = processEnvironment()
const readers = { process: readProcessSettings, authorizer: readAuthorizerSettings }

await runUntilStopped(async onStop => {
  const settings = readTogether(readers, environment)
  const process = await openBareProcess({ name: 'authorizer', settings: settings.process, onStop })
  const { log, clock, metrics } = process
  const { files, accessFolder, ...called } = settings.authorizer
  const certificate = certificateFromFiles(files, { log })
  onStop(certificate.stop)
  const access = accessFromFiles(accessFolder, { log })
  onStop(access.stop)
  const { answered } = createAuthorizerMetrics(metrics, () => certificate.current().certificate)
  const deps = { clock, log, certificate, access: access.current, answered, drain: replicaDrain }
  const authorizer = createAuthorizerApp({ ...deps, ...called })
  await process.startInOrder([authorizer], { authorizer: authorizer.ready })
  log.info({}, 'authorizer started')
})
