// Keeps a second process out of the folder of the embedded database, which would corrupt it: PGlite opens a folder twice without a word.
// The lock is a listening socket inside the folder: it ends with the process, whatever its id, also when a container starts anew.
import { unlinkSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { AppError } from '../../lib/errors.ts'

/** Returns how to let go. Rejects with `conflict` while another process holds the folder. */
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
    `another process uses the data folder ${folder}: end it first, or give each process its own folder`,
  )
}

/** Undefined when something is at that path already. */
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
