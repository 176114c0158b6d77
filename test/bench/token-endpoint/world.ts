// The surroundings of the bench: a control plane of its own with tenants, PostgreSQL with fsync, the emulator of GitHub with the
// App, and what is in the registry before a desk starts.
import { randomBytes, randomUUID } from 'node:crypto'
import type { AdminClient } from '../../../dev/cluster/control-plane/admin-client.ts'
import { installApp } from '../../../dev/github/actions/install-app.ts'
import type { RunningEmulator } from '../../../dev/github/emulator.ts'
import { startStockedEmulator } from '../../../dev/github/testing/stocked-emulator.ts'
import { clusterGitHubApp } from '../../../src/api/github/cluster-github-app.ts'
import { platformNamespace } from '../../../src/api/names.ts'
import { systemClock as clock } from '../../../src/lib/clock.ts'
import { SecretString } from '../../../src/lib/secret-string.ts'
import { silentLog as log } from '../../../src/lib/testing/silent-log.ts'
import { intentOf } from '../../../src/services/token-desk/minting/intent.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { createObject } from '../../fixtures/create-object.ts'
import { openClosing } from '../../fixtures/open-closing.ts'
import { gitHubHost } from '../../platform/ground.ts'
import { appName } from '../../platform/process-plans.ts'
import { type BenchDatabases, type DatabaseEnvironment, serverDatabases } from '../load/databases.ts'
import { startFixture } from '../reconcile/fixture.ts'
import { type BenchTenant, granted, makeTenant, type TenantOptions } from './tenants.ts'

export type World = {
  readonly github: RunningEmulator
  readonly databases: BenchDatabases
  /** What a desk's process gets beside its database. */
  readonly environment: Readonly<Record<string, string>>
  /** Resolves to so many new tenants, each with a grant and a pod. */
  readonly tenants: (prefix: string, count: number, delivery?: TenantOptions['delivery']) => Promise<readonly BenchTenant[]>
  readonly close: () => Promise<void>
}

const secretName = 'bench-app'

/** The emulator's App with its key, as an administrator adds it. `web` is where git fetches. */
export async function applyBenchApp(admin: AdminClient, github: RunningEmulator, web = github.url): Promise<void> {
  await admin.call('POST', `/api/v1/namespaces/${platformNamespace}/secrets`, {
    ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name: secretName } },
    data: { 'private-key.pem': Buffer.from(github.app.privateKeyPem).toString('base64') },
  })
  const { id: appId, clientId } = github.app
  await createObject(
    admin,
    clusterGitHubApp,
    { name: appName },
    {
      ...{ host: gitHubHost, endpoints: { web, api: github.apiUrl, insecure: true }, appId, clientId },
      privateKeys: [{ secretName, key: 'private-key.pem' }],
    },
  )
}

/** `web` is where git fetches in the place of GitHub. */
export async function openWorld(web: string, note: (message: string) => void): Promise<World> {
  return openClosing(async onClose => {
    const { admin, kubeconfig, close: stop } = await startFixture(note)
    onClose(stop)
    const databases = await serverDatabases()
    onClose(databases.close)
    const github = await startStockedEmulator()
    onClose(github.stop)
    const [app] = github.context.state.apps
    if (app === undefined) throw new Error('the emulator has no App')
    const whole = { accountId: 2001, installerId: 1001, repositorySelection: 'all', repositoryIds: [] } as const
    const { id: installationId } = installApp(github.context, app, whole)
    await applyBenchApp(admin, github, web)
    return {
      ...{ github, databases },
      environment: { KUBECONFIG: kubeconfig, SEKISHO_SEALING_KEYS: randomBytes(32).toString('base64') },
      async tenants(prefix, count, delivery) {
        const options = { admin, github, installationId, ...(delivery === undefined ? {} : { delivery }) }
        const made: BenchTenant[] = []
        for (let index = 0; index < count; index++) made.push(await makeTenant(options, `${prefix}-${index}`))
        return made
      },
    }
  })
}

/** As if each tenant's workload had asked before: its token is in the registry, with the life that tokens of workloads have. */
export async function fillRegistry(
  { github, environment }: World,
  database: DatabaseEnvironment,
  tenants: readonly BenchTenant[],
): Promise<void> {
  const sealingKeys = [new SecretString(environment['SEKISHO_SEALING_KEYS'] ?? '')]
  const url = new SecretString(database['SEKISHO_DATABASE_URL'] ?? '')
  const { controllers: store } = await openStore({ url, sealingKeys, clock, log })
  const { id: appId } = github.app
  const app = { host: gitHubHost, web: github.url, api: github.apiUrl, appId }
  try {
    for (const { namespace, installation, grant, serviceAccount } of tenants) {
      const subject = { kind: 'ServiceAccount', namespace, ...serviceAccount }
      const grantUid = grant.metadata.uid ?? ''
      const admitted = { grant, grantUid, installation, app, subject, repositories: granted.repositories }
      const id = await store.tokens.intend(intentOf(admitted))
      const [now, hour, quarter] = [Date.now(), 3_600_000, 900_000]
      await store.tokens.recordMinted(id, {
        token: new SecretString(`ghs_${randomUUID().replaceAll('-', '')}0000`),
        ...{ expiresAt: new Date(now + hour), livesUntil: new Date(now + quarter) },
        ...{ repositoryIds: granted.repositories.map(one => one.id), permissions: granted.permissions },
      })
    }
  } finally {
    await store.close()
  }
}
