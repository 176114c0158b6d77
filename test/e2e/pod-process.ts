// Runs in the network namespace of a pod (pod-network.ts starts it there): tries connections, asks a name server, or listens.
// Prints JSON lines.
import { Resolver } from 'node:dns/promises'
import { createServer } from 'node:net'
import { parseArgs } from 'node:util'
import { opensConnection } from '../../src/services/network-probe/connect.ts'

const { values } = parseArgs({
  options: { connect: { type: 'string', multiple: true }, resolve: { type: 'string' }, listen: { type: 'string' } },
})
/** Longer than the second after which a lost first packet is sent again. */
const patienceMilliseconds = 1500

function print(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`)
}

/** `host|port`, because hosts may contain colons. */
async function tryAddress(address: string): Promise<boolean> {
  const [host = '', port = ''] = address.split('|')
  return opensConnection(host, Number(port), patienceMilliseconds)
}

if (values.connect) print(await Promise.all(values.connect.map(tryAddress)))

if (values.resolve !== undefined) {
  const [server = '', name = ''] = values.resolve.split('|')
  const resolver = new Resolver({ timeout: patienceMilliseconds, tries: 1 })
  resolver.setServers([server])
  print(await resolver.resolve4(name).catch(() => []))
}

if (values.listen !== undefined) {
  // IPv4 and IPv6, as the servers of Node.js do.
  createServer(socket => socket.destroy()).listen(Number(values.listen), () => print('listening'))
}
