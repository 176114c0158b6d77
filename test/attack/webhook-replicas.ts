// Two processes of the admission webhook behind one address, as a Deployment and its Service have them: what is ready gets new connections, a moment
// after it became ready or stopped being so, and connections that exist stay where they are.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { WebhookCertificate } from '../fixtures/webhook-certificate.ts'
import { eventually } from './eventually.ts'

/** Endpoints follow readiness after the probe's period and what kube-proxy needs. */
const probeMilliseconds = 200
const spreadMilliseconds = 1000

type Address = { readonly host: string; readonly port: number }
type Endpoint = { readonly port: number; ready: boolean; opened: number; open: number }

export type WebhookReplicas = {
  /** Ends the replica as the kubelet does, starts another in its place, and resolves with the exit code of the former when that one is ready. */
  readonly replace: (number: number, signal?: NodeJS.Signals) => Promise<number | null>
  /** Connections of each replica, with those of its predecessors: how many there were, and are. */
  readonly connections: () => readonly { readonly opened: number; readonly open: number }[]
  readonly stop: () => Promise<void>
}

export type ReplicaOptions = {
  readonly address: Address
  /** The first of the ports of the replicas: two for each. */
  readonly firstPort: number
  readonly certificate: WebhookCertificate
  readonly clientAuthorities: string
}

const replicas = [0, 1]

export async function startReplicas({
  address,
  firstPort,
  certificate,
  clientAuthorities,
}: ReplicaOptions): Promise<WebhookReplicas> {
  const folder = await mkdtemp(join(tmpdir(), 'replicas-'))
  const files = { certificate: join(folder, 'tls.crt'), key: join(folder, 'tls.key'), clients: join(folder, 'clients.crt') }
  await writeFile(files.certificate, certificate.pair.certificate)
  await writeFile(files.key, certificate.pair.privateKey.reveal(), { mode: 0o600 })
  await writeFile(files.clients, clientAuthorities)
  const environment = (port: number) => ({
    PATH: process.env['PATH'],
    SEKISHO_ADMISSION_ADDRESS: address.host,
    SEKISHO_ADMISSION_PORT: String(port),
    SEKISHO_ADMISSION_CERTIFICATE_PATH: files.certificate,
    SEKISHO_ADMISSION_KEY_PATH: files.key,
    SEKISHO_ADMISSION_CLIENT_CA_PATH: files.clients,
    SEKISHO_HEALTH_ADDRESS: address.host,
    SEKISHO_HEALTH_PORT: String(port + 1),
    SEKISHO_LOG_LEVEL: 'error',
  })
  const isReady = async (port: number): Promise<boolean> => {
    try {
      return (await fetch(`http://${address.host}:${port + 1}/readyz`, { signal: AbortSignal.timeout(1000) })).ok
    } catch {
      return false
    }
  }
  const endpoints = replicas.map((number): Endpoint => ({ port: firstPort + 2 * number, ready: false, opened: 0, open: 0 }))
  const children: ChildProcess[] = []
  const start = async (number: number): Promise<void> => {
    const endpoint = endpointOf(endpoints, number)
    const program = join(import.meta.dirname, '../../src/admission/main.ts')
    children[number] = spawn(process.execPath, [program], {
      env: environment(endpoint.port),
      stdio: ['ignore', 'inherit', 'inherit'],
    })
    await eventually(`webhook ${number} in the endpoints`, async () => (endpoint.ready ? true : undefined))
  }
  const stopping = new AbortController()
  const watching = Promise.all(endpoints.map(endpoint => watch(endpoint, isReady, stopping.signal)))
  const proxy = await startProxy(address, endpoints)
  const end = async (number: number, signal: NodeJS.Signals): Promise<number | null> => {
    const child = children[number]
    if (child === undefined || child.exitCode !== null) throw new Error(`webhook ${number} does not run`)
    child.kill(signal)
    const [code] = (await once(child, 'exit')) as [number | null]
    return code
  }
  await Promise.all(replicas.map(start))
  return {
    async replace(number, signal = 'SIGTERM') {
      const code = await end(number, signal)
      await eventually(`webhook ${number} out of the endpoints`, async () =>
        endpointOf(endpoints, number).ready ? undefined : true,
      )
      await start(number)
      return code
    },
    connections: () => endpoints.map(({ opened, open }) => ({ opened, open })),
    async stop() {
      stopping.abort()
      await watching
      proxy.close()
      for (const number of replicas) if (children[number]?.exitCode === null) await end(number, 'SIGKILL')
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function endpointOf(endpoints: readonly Endpoint[], number: number): Endpoint {
  const found = endpoints[number]
  if (found === undefined) throw new Error(`there is no replica ${number}`)
  return found
}

async function watch(endpoint: Endpoint, isReady: (port: number) => Promise<boolean>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const ready = await isReady(endpoint.port)
    if (ready !== endpoint.ready) {
      await sleep(spreadMilliseconds, undefined, { signal }).catch(() => undefined)
      endpoint.ready = ready
    }
    await sleep(probeMilliseconds, undefined, { signal }).catch(() => undefined)
  }
}

/** Each new connection goes to the next endpoint that is ready; without one it is refused, as a Service does. */
async function startProxy(address: Address, endpoints: readonly Endpoint[]) {
  const sockets = new Set<Socket>()
  let turn = 0
  const server = createServer({ allowHalfOpen: true }, client => {
    const ready = endpoints.filter(endpoint => endpoint.ready)
    const chosen = ready[turn++ % Math.max(1, ready.length)]
    if (chosen === undefined) return void client.resetAndDestroy()
    chosen.opened += 1
    chosen.open += 1
    client.once('close', () => {
      chosen.open -= 1
    })
    const upstream = connect({ host: address.host, port: chosen.port, allowHalfOpen: true, noDelay: true })
    client.setNoDelay(true)
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from)
      from.pipe(to)
      from.once('error', () => to.destroy())
      from.once('close', () => {
        sockets.delete(from)
        to.destroySoon()
      })
    }
  })
  server.listen(address.port, address.host)
  await once(server, 'listening')
  return {
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
