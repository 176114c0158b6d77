// Locks the folder of the embedded database: PGlite does not notice a second process, which would corrupt the data. The lock is
// a listening socket inside the folder. It ends with the process, whatever its process id, also when a container restarts.
import { unlinkSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { AppError } from '../../lib/errors.ts'

/** Resolves to the function that releases the folder. Rejects with `conflict` while another process holds it. */
export async function holdDataFolder(folder: string): Promise<() => Promise<void>> {
  const path = join(folder, 'in-use.sock')
  const server = (await listen(path)) ?? (await takeOver(path, folder))
  server.unref()
  return () => new Promise(resolve => server.close(() => resolve()))
}

async function takeOver(path: string, folder: string): Promise<Server> {
  if (!(await answers(path))) {
    unlinkSync(path)
    const server = await listen(path)
    if (server) return server
  }
  throw new AppError(
    'conflict',
    `another process uses the data folder ${folder}: stop it first, or give each process a folder of its own`,
  )
}

/** Undefined when the path exists already. */
function listen(path: string): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer(socket => socket.destroy())
    server.once('error', (error: NodeJS.ErrnoException) => (error.code === 'EADDRINUSE' ? resolve(undefined) : reject(error)))
    server.listen(path, () => resolve(server))
  })
}

function answers(path: string): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
