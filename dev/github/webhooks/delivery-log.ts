// The log of webhook deliveries, newest last, bounded in number, size and age, in a file of JSON lines beside the state. It never
// sends anything.
import { appendFile, readFile, writeFile } from 'node:fs/promises'
import type { Delivery } from './delivery.ts'

const maxKept = 10_000
/** Of payloads, in characters. */
const maxText = 64 * 1024 * 1024

export type DeliveryLog = {
  /** Stores the delivery under the next id. */
  add(delivery: Omit<Delivery, 'id'>): Promise<void>
  /** Newest first, as far back as GitHub shows them. */
  list(appId: number): readonly Delivery[]
  find(appId: number, id: number): Delivery | undefined
}

export type DeliveryLogOptions = {
  readonly now: () => number
  /** Milliseconds for which a delivery can be listed and repeated: three days on github.com, seven on an Enterprise Server. */
  readonly window: number
}

async function readLines(file: string): Promise<string[]> {
  try {
    return (await readFile(file, 'utf8')).split('\n').filter(line => line !== '')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
}

async function readDeliveries(file: string): Promise<Delivery[]> {
  const deliveries: Delivery[] = []
  for (const line of await readLines(file)) {
    try {
      deliveries.push(JSON.parse(line) as Delivery)
    } catch {
      // Only the last line can be incomplete; its delivery was never acknowledged.
    }
  }
  return deliveries
}

/** Opens the log; a line that a crash cut off is dropped. */
export async function openDeliveryLog(file: string, { now, window }: DeliveryLogOptions): Promise<DeliveryLog> {
  const kept = await readDeliveries(file)
  let text = kept.reduce((sum, one) => sum + one.request.payload.length, 0)
  let lastId = kept.at(-1)?.id ?? 1_000_000
  const isSeen = (one: Delivery): boolean => Date.parse(one.deliveredAt) > now() - window

  const forget = (): void => {
    while (kept.length > 0) {
      const [oldest] = kept
      if (!oldest || (kept.length <= maxKept && text <= maxText && isSeen(oldest))) return
      text -= oldest.request.payload.length
      kept.shift()
    }
  }

  forget()
  await writeFile(file, kept.map(one => `${JSON.stringify(one)}\n`).join(''), { mode: 0o600 })
  return {
    add: async facts => {
      lastId += 1
      const delivery: Delivery = { id: lastId, ...facts }
      kept.push(delivery)
      text += delivery.request.payload.length
      forget()
      await appendFile(file, `${JSON.stringify(delivery)}\n`)
    },
    list: appId => kept.filter(one => one.appId === appId && isSeen(one)).reverse(),
    find: (appId, id) => kept.find(one => one.appId === appId && one.id === id && isSeen(one)),
  }
}
