// Owns: the log of webhook deliveries, newest last, bounded, in a file of JSON lines beside the world. Never sends anything.
import { appendFile, readFile, writeFile } from 'node:fs/promises'
import type { Delivery } from './delivery.ts'

/** GitHub shows deliveries of the last days; the emulator the last thousand. */
const mostKept = 1000

export type DeliveryLog = {
  /** Keeps the delivery under the next id. */
  add(delivery: Omit<Delivery, 'id'>): Promise<void>
  list(appId: number): readonly Delivery[]
  find(appId: number, id: number): Delivery | undefined
}

const readLines = async (file: string): Promise<string[]> => {
  try {
    return (await readFile(file, 'utf8')).split('\n').filter(line => line !== '')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
}

/** Opens the log; a line cut off by a crash is dropped. */
export const openDeliveryLog = async (file: string): Promise<DeliveryLog> => {
  const kept: Delivery[] = []
  for (const line of (await readLines(file)).slice(-mostKept)) {
    try {
      kept.push(JSON.parse(line) as Delivery)
    } catch {
      // Only the last line can be torn; its delivery was never acknowledged to anybody.
    }
  }
  await writeFile(file, kept.map(one => `${JSON.stringify(one)}\n`).join(''), { mode: 0o600 })
  let lastId = kept.at(-1)?.id ?? 1_000_000
  return {
    add: async facts => {
      lastId += 1
      const delivery: Delivery = { id: lastId, ...facts }
      kept.push(delivery)
      if (kept.length > mostKept) kept.shift()
      await appendFile(file, `${JSON.stringify(delivery)}\n`)
    },
    list: appId => kept.filter(one => one.appId === appId).reverse(),
    find: (appId, id) => kept.find(one => one.appId === appId && one.id === id),
  }
}
