// Our side as a process, without controllers beside it. Usage: alone | replica
import { systemClock as clock } from '../../../src/lib/clock.ts'
import { dispatchCommands } from '../harness/command-server.ts'
import { openDesk } from './open-desk.ts'

const [form = 'alone'] = process.argv.slice(2)
const {
  tokenDesk,
  tokenDeskPort: port,
  gitProxyPort,
  start,
  stop,
} = await openDesk({
  ...{ environment: process.env, clock, isReplica: form === 'replica' },
})
await start()
await dispatchCommands({
  port: async () => ({ port, gitProxyPort, authority: tokenDesk.certificateAuthorities() }),
})
await stop()
process.exit(0)
