// The process of the source store: git, which reads what strangers wrote, without any credential. It has no key, no database,
// no ServiceAccount and no token; it gets packs over a unix socket and serves them to builds.
import { systemClock as clock } from '../../../lib/clock.ts'
import { processEnvironment } from '../../../lib/config.ts'
import { createLog } from '../../../lib/log.ts'
import { runUntilStopped } from '../../../process/run.ts'
import { childArgument } from './child-store.ts'
import { readSourceStoreSettings } from './config.ts'
import { limitsOf, openStore } from './open-store.ts'

// A child ends with its parent, also when that was killed: it would keep the port.
if (process.argv.includes(childArgument)) process.stdin.once('end', () => process.exit(0)).resume()

await runUntilStopped(async onStop => {
  const { sourceSocket, sourceFolder, sourcePort, sourceMegabytes, logLevel } = readSourceStoreSettings(processEnvironment())
  const log = createLog({ level: logLevel, name: 'sekisho-source-store' })
  const address = { host: '0.0.0.0', port: sourcePort }
  const limits = limitsOf(sourceMegabytes)
  const store = await openStore({ socket: sourceSocket, folder: sourceFolder, address, limits, clock, log })
  onStop(store.close)
  log.info({ port: store.port, socket: sourceSocket }, 'source store listening')
})
