// The admission webhook as a process of its own: pure rules behind TLS. It opens no database, does not call the API server,
// reads no secret but its own certificate, watches nothing and elects nobody; every replica answers.
import { processEnvironment, readTogether } from '../lib/config.ts'
import { openBareProcess } from '../process/bare-process.ts'
import { readProcessSettings } from '../process/config.ts'
import { runUntilStopped } from '../process/run.ts'
import { replicaDrain } from '../web/drained-server.ts'
import { certificateFromFiles } from '../web/tls.ts'
import { createAdmissionApp } from './app.ts'
import { sealerFromFile } from './app-secrets/public-key.ts'
import { readAdmissionSettings } from './config.ts'

const environment = processEnvironment()
const readers = { process: readProcessSettings, admission: readAdmissionSettings }

await runUntilStopped(async onStop => {
  const settings = readTogether(readers, environment)
  const process = await openBareProcess({ name: 'admission', settings: settings.process, onStop })
  const { log, clock } = process
  const { files, appSecretsKeyPath, ...called } = settings.admission
  const certificate = certificateFromFiles(files, { log })
  onStop(certificate.stop)
  const findSealer = sealerFromFile(appSecretsKeyPath, { log })
  const admission = createAdmissionApp({ clock, log, certificate, findSealer, drain: replicaDrain, ...called })
  await process.startInOrder([admission], { admission: admission.ready })
  log.info({ clientCertificates: files.clientAuthorityPath !== undefined }, 'admission webhook started')
})
