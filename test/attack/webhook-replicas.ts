// Two processes of the admission webhook behind one address, as a Deployment and its Service have them.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { startService } from '../fixtures/service-endpoints.ts'
import type { WebhookCertificate } from '../fixtures/webhook-certificate.ts'

type Address = { readonly host: string; readonly port: number }

export type WebhookReplicas = {
  /**
   * Ends the replica as the kubelet does, starts another in its place, and resolves with the exit code of the former when that
   * one is ready.
   */
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
  const isReady = async (port: number): Promise<boolean> =>
    (await fetch(`http://${address.host}:${port + 1}/readyz`, { signal: AbortSignal.timeout(1000) })).ok
  const portOf = (number: number): number => firstPort + 2 * number
  const service = await startService({ address, ports: replicas.map(portOf), isReady })
  const isEndpoint = (number: number): boolean => service.endpoints()[number]?.ready === true
  const children: ChildProcess[] = []
  const start = async (number: number): Promise<void> => {
    const program = join(import.meta.dirname, '../../src/admission/main.ts')
    children[number] = spawn(process.execPath, [program], {
      env: environment(portOf(number)),
      stdio: ['ignore', 'inherit', 'inherit'],
    })
    await waitUntil(`webhook ${number} in the endpoints`, async () => isEndpoint(number) || undefined)
  }
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
      await waitUntil(`webhook ${number} out of the endpoints`, async () => !isEndpoint(number))
      await start(number)
      return code
    },
    connections: () => service.endpoints().map(({ opened, open }) => ({ opened, open })),
    async stop() {
      await service.close()
      for (const number of replicas) if (children[number]?.exitCode === null) await end(number, 'SIGKILL')
      await rm(folder, { recursive: true, force: true })
    },
  }
}
