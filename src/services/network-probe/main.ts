// The pod that the platform tries to reach: accepts connections on three ports and closes them at once. It reads nothing and
// knows nothing.
import { createServer } from 'node:net'
import { probePorts } from './ports.ts'

const maxConnections = 32

const servers = Object.values(probePorts).map(port => {
  const server = createServer(socket => {
    socket.on('error', () => socket.destroy())
    socket.end()
  })
  server.maxConnections = maxConnections
  // All ports or none: a port that is closed for another reason must not look like a policy.
  return server.listen(port)
})

for (const signal of ['SIGTERM', 'SIGINT'] as const)
  process.once(signal, () => {
    for (const server of servers) server.close()
  })
