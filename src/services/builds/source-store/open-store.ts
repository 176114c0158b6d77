// Opens the source store itself: the sources on its disk, the server for builds and the server for orders. In a process of its
// own (main.ts).
import type { Clock } from '../../../lib/clock.ts'
import type { Log } from '../../../lib/log.ts'
import type { AcceptLimits } from './git/accept-pack.ts'
import { createHeldSources } from './held-sources.ts'
import { createOrderServer } from './orders/order-server.ts'
import { createSourceServer } from './server.ts'

/** Of one fetch with its checks; the controllers use the same. */
export const fetchMilliseconds = 120_000

const megabyte = 1_048_576

/** The limits that follow from the size of a commit. */
export function limitsOf(sourceMegabytes: number): AcceptLimits & { readonly totalBytes: number } {
  const packedBytes = sourceMegabytes * megabyte
  return { timeoutMilliseconds: fetchMilliseconds, packedBytes, unpackedBytes: packedBytes * 4, totalBytes: packedBytes * 20 }
}

export type StoreOptions = {
  readonly socket: string
  readonly folder: string
  /** Where builds fetch; port 0 asks for a free one. */
  readonly address: { readonly host: string; readonly port: number }
  readonly limits: AcceptLimits & { readonly totalBytes: number }
  /** How long builds wait for a source that is not there (server.ts). */
  readonly patienceMilliseconds?: number
  readonly clock: Clock
  readonly log: Log
}

/** Resolves to the port when both servers listen. Rejects when one cannot; nothing is left open then. */
export async function openStore(options: StoreOptions): Promise<{ readonly port: number; readonly close: () => Promise<void> }> {
  const { address, log } = options
  const sources = createHeldSources(options)
  const builds = createSourceServer({ ...options, store: sources })
  const orders = createOrderServer({ socket: options.socket, sources, log })
  const close = async (): Promise<void> => {
    await Promise.all([orders.close(), builds.close()])
  }
  try {
    await sources.open()
    const port = await builds.listen(address.host, address.port)
    // Last: whoever can order can also count on what is served.
    await orders.listen()
    return { port, close }
  } catch (error) {
    await close()
    throw error
  }
}
