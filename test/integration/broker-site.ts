// A whole broker for tests: the GitHub emulator, a store in memory, the real API server, and the broker's own TLS. Everything ends with it.
// The Tenant controller's part (a namespace with the tenant's label) is played by `makeNamespace`.
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent, fetch as undiciFetch } from 'undici'
import { adminClientFor } from '../../dev/cluster/control-plane/admin-client.ts'
import { type RunningEmulator, startEmulator } from '../../dev/github/emulator.ts'
import { defaultSeed } from '../../dev/github/seed/default-seed.ts'
import type { Seed } from '../../dev/github/seed/seed.ts'
import { type Browser, type BrowserPage, createBrowser } from '../../dev/github/testing/browser.ts'
import { install } from '../../dev/github/testing/people.ts'
import { namespaces } from '../../src/api/builtin/index.ts'
import { clusterGitHubApp } from '../../src/api/cluster-github-app.ts'
import { customResourceDefinition } from '../../src/api/crd.ts'
import { labels, userSubject } from '../../src/api/names.ts'
import { kinds } from '../../src/api/registry.ts'
import { createBrokerApp } from '../../src/broker/app.ts'
import { readBrokerSettings } from '../../src/broker/config.ts'
import { issueCertificate, makeCertificateAuthority } from '../../src/identity/certificate-authority.ts'
import type { KubeClient } from '../../src/kube/client/client.ts'
import { createKubeClient } from '../../src/kube/client/kube-client.ts'
import { createManager } from '../../src/kube/manager.ts'
import { loadKubeConnection } from '../../src/kubeconfig/kubeconfig.ts'
import { type Clock, systemClock } from '../../src/lib/clock.ts'
import { silentLog } from '../../src/lib/log.ts'
import { SecretString } from '../../src/lib/secret-string.ts'
import { openStore } from '../../src/store/open-store.ts'
import type { Store } from '../../src/store/store.ts'
import { createCertificate } from '../../src/web/tls.ts'
import { testKubeconfig, waitUntil } from './harness.ts'

type Fetch = typeof fetch

export const patience = { timeoutMilliseconds: 30_000 }

export type BrokerSite = {
  readonly url: string
  readonly host: string
  /** The organisation that stands for acme in this site; its owner is olivia, its team developers has dave. */
  readonly organization: { readonly id: number; readonly login: string }
  readonly github: RunningEmulator
  readonly store: Store
  readonly kube: KubeClient
  readonly certificateAuthority: string
  /** Trusts the broker's certificate. */
  readonly fetch: Fetch
  readonly subjectOf: (login: string) => string
  readonly browser: () => Browser
  /** A browser signed in at GitHub and at the broker. */
  readonly signIn: (login: string, path?: string) => Promise<{ readonly browser: Browser; readonly page: BrowserPage }>
  /** Moves the broker's clock, not the issuer library's. */
  readonly advance: (seconds: number) => void
  readonly makeNamespace: (tenantName: string) => Promise<void>
  readonly stop: () => Promise<void>
}

async function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => (typeof address === 'object' && address !== null ? resolve(address.port) : reject(new Error('no port'))))
    })
  })
}

/** The default people, with organisation names that no other test file uses on the shared API server. */
function ownSeed(suffix: string, extend: (seed: Seed) => Seed): Seed {
  const text = JSON.stringify(defaultSeed).replaceAll('"acme"', `"acme-${suffix}"`).replaceAll('"globex"', `"globex-${suffix}"`)
  return extend(JSON.parse(text) as Seed)
}

async function installKinds(): Promise<void> {
  const admin = await adminClientFor(testKubeconfig())
  try {
    for (const kind of kinds) {
      const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${kind.plural}.${kind.group}`
      const patch = `${path}?fieldManager=test&force=true`
      await admin.call('PATCH', patch, customResourceDefinition(kind), 'application/apply-patch+yaml')
      await waitUntil(
        `${kind.kind} is served`,
        async () => {
          const answer = await admin.request('GET', `/apis/${kind.apiVersion}/${kind.plural}?limit=1`)
          return answer.status === 200 || undefined
        },
        patience,
      )
    }
  } finally {
    await admin.close()
  }
}

export async function startBrokerSite(
  options: {
    readonly seed?: (seed: Seed) => Seed
    readonly platformAdmins?: (host: string) => string
    readonly requestOAuthOnInstall?: boolean
  } = {},
): Promise<BrokerSite> {
  const suffix = randomBytes(3).toString('hex')
  let offset = 0
  const clock: Clock = { now: () => new Date(Date.now() + offset), sleep: systemClock.sleep }
  const port = await freePort()
  const url = `https://127.0.0.1:${port}`
  await installKinds()
  const now = new Date()
  const authority = await makeCertificateAuthority({ commonName: 'test', now, lifetimeDays: 2 })
  const leaf = await issueCertificate({
    authority,
    commonName: 'broker',
    dnsNames: ['localhost'],
    ipAddresses: ['127.0.0.1'],
    usage: 'server',
    now,
    lifetimeDays: 1,
  })

  const folder = await mkdtemp(join(tmpdir(), 'broker-site-'))
  const webhookCaFile = join(folder, 'ca.pem')
  await writeFile(webhookCaFile, authority.certificatePem)
  const github = await startEmulator({
    webhookCaFile,
    seed: ownSeed(suffix, options.seed ?? (seed => seed)),
    app: {
      callbackUrls: [`${url}/login/callback`],
      setupUrl: `${url}/onboard/callback`,
      webhookUrl: `${url}/webhooks/github`,
      requestOAuthOnInstall: options.requestOAuthOnInstall ?? false,
    },
  })
  const host = new URL(github.url).host
  const connection = await loadKubeConnection({ environment: { KUBECONFIG: testKubeconfig() }, clock: systemClock })
  const kube = createKubeClient({ connection, component: 'broker-test', clock: systemClock, random: Math.random })
  const appName = `app-${suffix}`
  await kube.apply(
    clusterGitHubApp,
    {
      apiVersion: clusterGitHubApp.apiVersion,
      kind: clusterGitHubApp.kind,
      metadata: { name: appName },
      spec: {
        host,
        endpoints: { web: github.url, api: github.apiUrl },
        appId: github.app.id,
        clientId: github.app.clientId,
        privateKeys: [{ secretName: 'not-read-by-the-broker', key: 'private-key.pem' }],
      },
    },
    { fieldManager: 'test' },
  )
  await kube.applyStatus(
    clusterGitHubApp,
    {
      apiVersion: clusterGitHubApp.apiVersion,
      kind: clusterGitHubApp.kind,
      metadata: { name: appName },
      status: { slug: github.app.slug },
    },
    { fieldManager: 'test' },
  )

  const sealingKeys = [new SecretString(randomBytes(32).toString('base64'))]
  const store = await openStore({ dataFolder: 'memory://', sealingKeys, clock, log: silentLog })
  const manager = createManager({ client: kube, log: silentLog, clock: systemClock, random: Math.random })
  const settings = readBrokerSettings({
    SEKISHO_PUBLIC_URL: url,
    SEKISHO_GITHUB_APP: appName,
    SEKISHO_GITHUB_CLIENT_SECRET: github.app.clientSecret,
    SEKISHO_GITHUB_WEBHOOK_SECRET: github.app.webhookSecret,
    SEKISHO_BROKER_ADDRESS: '127.0.0.1',
    SEKISHO_BROKER_PORT: String(port),
    SEKISHO_TLS_CERTIFICATE_PATH: '/not-read',
    SEKISHO_TLS_KEY_PATH: '/not-read',
    SEKISHO_PLATFORM_ADMINS: options.platformAdmins?.(host) ?? '',
  })
  const certificate = createCertificate({ certificate: leaf.certificatePem, privateKey: leaf.privateKeyPem })
  const broker = await createBrokerApp({
    settings,
    store,
    kube,
    manager,
    certificate,
    log: silentLog,
    clock,
    random: Math.random,
  })
  await manager.start()
  await broker.start()

  const agent = new Agent({ connect: { ca: authority.certificatePem } })
  const trusting = ((address: string, init?: RequestInit) =>
    undiciFetch(address, { ...(init as object), dispatcher: agent })) as unknown as Fetch
  const browser = (): Browser => createBrowser(trusting)
  const userId = (login: string): number => github.context.world.users.find(user => user.login === login)?.id ?? 0
  const organizationId = github.context.world.organizations.find(one => one.login === `acme-${suffix}`)?.id ?? 0

  return {
    url,
    host,
    organization: { id: organizationId, login: `acme-${suffix}` },
    github,
    store,
    kube,
    certificateAuthority: authority.certificatePem,
    fetch: trusting,
    subjectOf: login => userSubject(host, userId(login)),
    browser,
    async signIn(login, path = '/') {
      const person = browser()
      await (await person.open(`${github.url}/login`)).form(`Sign in as ${login}`).submit()
      const asked = await person.open(`${url}/login?return_to=${encodeURIComponent(path)}`)
      const consents = asked.text.includes('Authorize sekisho-dev')
      return { browser: person, page: consents ? await asked.form('Authorize sekisho-dev').submit() : asked }
    },
    advance(seconds) {
      offset += seconds * 1000
    },
    async makeNamespace(tenantName) {
      const metadata = { name: tenantName, labels: { [labels.tenant]: tenantName } }
      await kube.apply(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata }, { fieldManager: 'test' })
    },
    async stop() {
      await broker.stop()
      await manager.stop()
      await agent.close()
      await store.close()
      await kube.close()
      await github.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** The organisation brought by its owner, with its team of developers; ends when the browser has confirmed, the namespace is there. */
export async function bringOrganization(site: BrokerSite): Promise<void> {
  const { id, login } = site.organization
  const { browser, page } = await site.signIn('olivia', '/onboard')
  browser.stops.push(`${site.github.url}/github-apps/`)
  const state = new URL((await page.form('Install the App on GitHub').submit()).url).searchParams.get('state') ?? ''
  browser.stops.length = 0
  const confirm = await install(site.github, browser, id, { repositoryIds: 'all', state })
  await confirm.form('Create the tenant').submit({ team: '3001' })
  await site.makeNamespace(login)
}
