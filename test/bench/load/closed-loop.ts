// Keeps a fixed number of concurrent requests for a number of seconds: each answer is followed at once by the next request
// (closed loop). With `perSecond` requests are due at fixed times instead, whatever the answers do (open loop): a latency
// counts from the time at which the request was due, so a server that falls behind shows it. Owns the connections and the clock
// of the measurement; counts failures and never hides them.
import { once } from 'node:events'
import { connect as connectPlain } from 'node:net'
import type { Duplex } from 'node:stream'
import { connect as connectTls } from 'node:tls'
import { percentile } from '../harness/statistics.ts'
import { type Connection, http1Connection, prepareHttp1 } from './http1-connection.ts'
import { http2Connection, prepareHttp2 } from './http2-connection.ts'
import { startPace } from './pace.ts'
import type { LoadPlan, PreparedRequest } from './planned-request.ts'

export type LoadResult = {
  readonly requests: number
  /** Answers other than the expected ones. */
  readonly failures: number
  readonly wallSeconds: number
  readonly p50Milliseconds: number
  readonly p99Milliseconds: number
}

/** When a request was due, on the clock of `performance.now()`; undefined after the last. */
type Due = number | undefined

export type ClosedLoop = {
  /** Resolves to the number of warm-up answers other than the expected ones. */
  readonly warmUp: () => Promise<number>
  readonly run: (seconds: number) => Promise<LoadResult>
  readonly close: () => void
}

/** An address of loopback for each number up to 64,000. */
export function addressOf(number: number): string {
  return `127.1.${Math.floor(number / 250)}.${1 + (number % 250)}`
}

/** `number` of the connection. @throws when the server speaks another protocol than the plan's */
export async function openSocket(
  plan: Pick<LoadPlan, 'port' | 'authority' | 'protocol' | 'ownAddresses'>,
  number: number,
): Promise<Duplex> {
  const from = plan.ownAddresses === true ? { localAddress: addressOf(number) } : {}
  if (plan.authority === undefined) {
    const socket = connectPlain({ port: plan.port, host: '127.0.0.1', noDelay: true, ...from })
    await once(socket, 'connect')
    return socket
  }
  const socket = connectTls({
    port: plan.port,
    host: '127.0.0.1',
    ...from,
    servername: 'localhost',
    ca: plan.authority,
    ALPNProtocols: [plan.protocol],
  })
  await once(socket, 'secureConnect')
  socket.setNoDelay(true)
  if (socket.alpnProtocol !== plan.protocol)
    throw new Error(`the server speaks ${String(socket.alpnProtocol)}, not ${plan.protocol}`)
  return socket
}

export async function openClosedLoop(plan: LoadPlan): Promise<ClosedLoop> {
  const prepare = plan.protocol === 'h2' ? prepareHttp2 : prepareHttp1
  const requests = plan.requests.map(request => prepare(request, plan.uniqueHeader))
  const open = plan.protocol === 'h2' ? http2Connection : http1Connection
  const connections: Connection[] = []
  for (let number = 0; number < plan.connections; number++) connections.push(open(await openSocket(plan, number)))

  let sent = 0
  const next = (): PreparedRequest => {
    const request = requests[sent++ % requests.length]
    if (request === undefined) throw new Error('a load plan without requests')
    return request
  }
  /** All workers continue until there is no next due time. */
  const drive = async (nextDue: () => Due | Promise<Due>, took: (milliseconds: number) => void): Promise<number> => {
    let failures = 0
    const worker = async (connection: Connection): Promise<void> => {
      for (let due = await nextDue(); due !== undefined; due = await nextDue()) {
        if (!(await connection.send(next()))) failures += 1
        took(performance.now() - due)
      }
    }
    await Promise.all(connections.flatMap(connection => Array.from({ length: plan.streams }, () => worker(connection))))
    return failures
  }
  return {
    warmUp() {
      let left = plan.warmUpRequests
      return drive(
        () => (left-- > 0 ? performance.now() : undefined),
        () => {},
      )
    },
    async run(seconds) {
      const { perSecond } = plan
      const pace = perSecond === undefined ? undefined : await startPace({ perSecond, seconds })
      const milliseconds: number[] = []
      const started = performance.now()
      const until = started + seconds * 1000
      const now = (): Due => (performance.now() < until ? performance.now() : undefined)
      const failures = await drive(pace?.next ?? now, took => milliseconds.push(took))
      return {
        requests: milliseconds.length,
        failures,
        wallSeconds: (performance.now() - started) / 1000,
        p50Milliseconds: percentile(milliseconds, 50),
        p99Milliseconds: percentile(milliseconds, 99),
      }
    },
    close() {
      for (const connection of connections) connection.close()
    },
  }
}
