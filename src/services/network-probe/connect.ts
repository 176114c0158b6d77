// Tries to open TCP connections; sends nothing and closes what opens.
import { connect } from 'node:net'

/** Whether a connection opens within the time. Never rejects: refused, dropped and unknown names are all `false`. */
export function opensConnection(host: string, port: number, milliseconds: number): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect({ host, port, timeout: milliseconds })
    const end = (opened: boolean): void => {
      socket.destroy()
      resolve(opened)
    }
    socket.once('connect', () => end(true))
    socket.once('timeout', () => end(false))
    socket.once('error', () => end(false))
  })
}
