// Starts and stops an emulator: state folder, state, git, webhooks, server. Several can run in one process; they share nothing.
import { createPrivateKey, randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { reservePort } from '../../src/lib/testing/reserved-port.ts'
import { createFaults } from './faults/faults.ts'
import { createGitStore } from './git/store.ts'
import type { RestSettings } from './rest/context.ts'
import { defaultSeed } from './seed/default-seed.ts'
import { plant, secretFiles } from './seed/plant.ts'
import type { Seed } from './seed/seed.ts'
import { freshStock, type Stock } from './seed/stock.ts'
import type { ServerContext } from './server/context.ts'
import { buildServer } from './server/server.ts'
import type { App } from './state/apps.ts'
import { days } from './state/clock.ts'
import { createStore, readState } from './state/store.ts'
import { createLinks, type Flavour } from './views/view.ts'
import { createSender } from './webhooks/delivery.ts'
import { openDeliveryLog } from './webhooks/delivery-log.ts'
import { createWebhooks } from './webhooks/dispatcher.ts'

export type EmulatorOptions = {
  /** Kept between starts. Absent: a temporary folder that `stop` deletes. */
  readonly stateFolder?: string
  /** Default 127.0.0.1. */
  readonly address?: string
  /** Default 0: one that no other emulator has; the links must contain it before the server listens. */
  readonly port?: number
  /** The URL that clients use; default `http://<address>:<port>`. */
  readonly publicUrl?: string
  readonly seed?: Seed
  /** Default: all keys and repositories are made anew. */
  readonly stock?: Stock
  readonly flavour?: Flavour
  /** The REST URL that clients use; default `<publicUrl><restPrefix>`. `http://api.<host>` is the form of github.com. */
  readonly publicApiUrl?: string
  /** Default `/api/v3`. */
  readonly restPrefix?: string
  readonly installationTokenFormat?: RestSettings['installationTokenFormat']
  readonly rateLimit?: RestSettings['rateLimit']
  /** Settings of the first App; an absent one keeps its value. */
  readonly app?: Partial<Pick<App, 'webhookUrl' | 'callbackUrls' | 'setupUrl' | 'setupOnUpdate' | 'requestOAuthOnInstall'>>
  /** PEM file of the authorities of https webhook receivers. */
  readonly webhookCaFile?: string
  /** PATH on which git and sh are found. */
  readonly searchPath?: string
  readonly now?: () => number
  readonly report?: (message: string) => void
}

export type AppCredentials = {
  readonly id: number
  readonly slug: string
  readonly clientId: string
  readonly clientSecret: string
  readonly privateKeyPem: string
  readonly webhookSecret: string
}

export type RunningEmulator = {
  readonly url: string
  readonly apiUrl: string
  /** The first App of the seed. */
  readonly app: AppCredentials
  /** Login → personal access token. */
  readonly personalTokens: Readonly<Record<string, string>>
  readonly controlToken: string
  /** The state, for tests in the same process. */
  readonly context: ServerContext
  stop(): Promise<void>
}

async function ensureSecret(file: string, make: () => Promise<string> | string): Promise<string> {
  const existing = await readFile(file, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  })
  if (existing !== undefined) return existing.trim()
  const made = await make()
  await writeFile(file, `${made.trim()}\n`, { mode: 0o600 })
  return made.trim()
}

async function openContext(options: EmulatorOptions, folder: string, publicUrl: string) {
  const trueTime = options.now ?? Date.now
  const faults = createFaults(trueTime)
  const now = (): number => trueTime() + faults.skew()
  const report = options.report ?? (() => undefined)
  const files = secretFiles(folder)
  await mkdir(join(folder, 'secrets'), { recursive: true, mode: 0o700 })
  const git = await createGitStore(join(folder, 'repositories'), options.searchPath ?? '/usr/local/bin:/usr/bin:/bin')
  const stateFile = join(folder, 'world.json')
  const known = await readState(stateFile)
  const stock = options.stock ?? freshStock
  const store = createStore(
    known ?? (await plant(options.seed ?? defaultSeed, now(), { git, stateFolder: folder, stock })),
    stateFile,
    () => Math.min(trueTime(), now()),
  )
  store.change(state => {
    const [app] = state.apps
    if (app) Object.assign(app, options.app)
  })
  await store.durable()
  const flavour = options.flavour ?? 'enterprise-server'
  const settings: RestSettings = {
    restPrefix: options.restPrefix ?? '/api/v3',
    installationTokenFormat: options.installationTokenFormat ?? 'short',
    rateLimit: options.rateLimit ?? { authenticated: 5000, anonymous: 60, enforced: false },
  }
  const links = createLinks(publicUrl, settings.restPrefix, flavour, options.publicApiUrl)
  const sender = createSender(options.webhookCaFile)
  // https://docs.github.com/en/webhooks/testing-and-troubleshooting-webhooks/redelivering-webhooks
  const window = days(flavour === 'enterprise-server' ? 7 : 3)
  const log = await openDeliveryLog(join(folder, 'deliveries.jsonl'), { now, window })
  const webhooks = createWebhooks({ store, links, faults, sender, log, now, report })
  const signingKey = createPrivateKey(await ensureSecret(files.tokenSigningKey, () => stock.privateKey('token-signing')))
  const controlToken = await ensureSecret(files.control, () => randomBytes(24).toString('base64url'))
  const context: ServerContext = {
    settings,
    links,
    store,
    state: store.state,
    git,
    webhooks,
    faults,
    signingKey,
    controlToken,
    now,
    report,
  }
  return { context, sender }
}

async function credentialsOf(context: ServerContext, folder: string): Promise<AppCredentials> {
  const [app] = context.state.apps
  if (!app) throw new Error('the seed has no App')
  const { id, slug, clientId, clientSecret, webhookSecret } = app
  return {
    id,
    slug,
    clientId,
    clientSecret,
    webhookSecret,
    privateKeyPem: await readFile(secretFiles(folder).appKey(slug), 'utf8'),
  }
}

/** Starts an emulator; resolves when it answers. */
export async function startEmulator(options: EmulatorOptions = {}): Promise<RunningEmulator> {
  const folder = options.stateFolder ?? (await mkdtemp(join(tmpdir(), 'github-emulator-')))
  await mkdir(dirname(folder), { recursive: true })
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const address = options.address ?? '127.0.0.1'
  const port = options.port || (await reservePort())
  const url = options.publicUrl ?? `http://${address}:${port}`
  const { context, sender } = await openContext(options, folder, url)
  const server = await buildServer(context)
  await server.listen({ host: address, port })
  return {
    url,
    apiUrl: context.links.apiUrl,
    app: await credentialsOf(context, folder),
    personalTokens: JSON.parse(await readFile(secretFiles(folder).personalTokens, 'utf8')) as Record<string, string>,
    controlToken: context.controlToken,
    context,
    stop: async () => {
      await server.close()
      const quiet = context.webhooks.stop()
      await sender.close()
      await quiet
      await context.store.durable()
      if (options.stateFolder === undefined) await rm(folder, { recursive: true, force: true })
    },
  }
}
