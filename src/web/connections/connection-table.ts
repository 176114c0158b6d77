// Which connections a server has, by client address, and which of them to end when there are too many: one that keeps the
// server waiting, first of all one that never sent a request. So a client that opens thousands of silent connections loses
// them, and other clients are not refused. A connection whose request is being answered is never ended.
import type { IncomingMessage } from 'node:http'

/** What the table knows of one connection. */
export type Connection = {
  readonly client: string
  readonly end: () => void
  /** Whether a request of it was answered. */
  answered: boolean
  request: Pick<IncomingMessage, 'complete' | 'headers'> | undefined
}

export type ConnectionTable = {
  /**
   * Adds the connection, ending another one if there are too many. Undefined when all are at work: then this one must be ended.
   */
  readonly add: (client: string, end: () => void) => Connection | undefined
  readonly begin: (connection: Connection, request: NonNullable<Connection['request']>) => void
  /** The connection waits for its next request: of those that do, the last one to be ended. */
  readonly answered: (connection: Connection) => void
  readonly remove: (connection: Connection) => void
  /** Those that never sent a request. */
  readonly silent: () => readonly Connection[]
  readonly size: () => number
}

// Memory (connections): client address → connections
//   life: while connected
//   bound: 2,048, of one address 1,024; of too many the oldest silent one ends
//   freshness: the end of the connection
//   replicas: each counts
/** At most `most` connections, and at most `maxOfClient` of one client. */
export function createConnectionTable(bounds: { readonly most: number; readonly maxOfClient: number }): ConnectionTable {
  const clients = new Map<string, Set<Connection>>()
  let size = 0

  const remove = (connection: Connection): void => {
    const all = clients.get(connection.client)
    if (all?.delete(connection) !== true) return
    size -= 1
    if (all.size === 0) clients.delete(connection.client)
  }
  const endOneOf = (all: ReadonlySet<Connection>): boolean => {
    const waiting = [...all].filter(connection => !isAtWork(connection))
    const victim = waiting.find(({ answered }) => !answered) ?? waiting[0]
    if (victim === undefined) return false
    remove(victim)
    victim.end()
    return true
  }

  return {
    add(client, end) {
      const own = clients.get(client)
      if (own !== undefined && own.size >= bounds.maxOfClient && !endOneOf(own)) return undefined
      if (size >= bounds.most && !endOneOf(largest(clients))) return undefined
      const connection: Connection = { client, end, answered: false, request: undefined }
      const all = clients.get(client) ?? new Set()
      clients.set(client, all.add(connection))
      size += 1
      return connection
    },
    begin(connection, request) {
      connection.request = request
    },
    answered(connection) {
      connection.request = undefined
      connection.answered = true
      const all = clients.get(connection.client)
      if (all?.delete(connection)) all.add(connection)
    },
    remove,
    silent: () =>
      [...clients.values()].flatMap(all => [...all].filter(({ answered, request }) => !answered && request === undefined)),
    size: () => size,
  }
}

/** Whether the whole request has arrived. A request without a body arrives with its headers. */
function isAtWork({ request }: Connection): boolean {
  if (request === undefined) return false
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
  return request.complete || ((length === undefined || length === '0') && encoding === undefined)
}

function largest(clients: ReadonlyMap<string, ReadonlySet<Connection>>): ReadonlySet<Connection> {
  let found: ReadonlySet<Connection> = new Set()
  for (const all of clients.values()) if (all.size > found.size) found = all
  return found
}
