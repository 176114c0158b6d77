// The surroundings of the bench: a control plane of its own with one tenant, a PostgreSQL server and a store of buckets
// that start empty, and data-services in this process, with an administrator's rights: what it may do is a matter of
// tests.
import { dataServicesNamespace } from '../../../src/api/names.ts'
import type { ResourceType } from '../../../src/api/resource.ts'
import { serviceBinding } from '../../../src/api/services/service-binding.ts'
import { tenant } from '../../../src/api/tenancy/tenant.ts'
import type { Server } from '../../../src/data-services/adapters/postgresql/server.ts'
import { createDataServicesApp } from '../../../src/data-services/app.ts'
import type { KubeClient } from '../../../src/kube/client/client.ts'
import { createManager } from '../../../src/kube/manager.ts'
import { systemClock as clock } from '../../../src/lib/clock.ts'
import { silentLog as log } from '../../../src/lib/testing/silent-log.ts'
import { limits } from '../../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { type OnClose, openClosing } from '../../fixtures/open-closing.ts'
import { openKube } from '../../fixtures/open-kube.ts'
import { put } from '../../fixtures/put-object.ts'
import { startFixture } from '../reconcile/fixture.ts'
import { isReady, offerServers, type Servers } from './servers.ts'

export const namespace = 'bench-services'
export type World = {
  readonly client: KubeClient
  readonly apply: (type: ResourceType, name: string, spec: object) => Promise<void>
  /** Resolves when all ServiceBindings of these names are ready. */
  readonly untilReady: (names: readonly string[]) => Promise<void>
  /** Of the PostgreSQL server, without the platform: for its peer, and to look. */
  readonly server: Server
  /** The store of buckets. */
  readonly store: Servers['store']
  readonly close: () => Promise<void>
}

export function openWorld(note: (message: string) => void): Promise<World> {
  return openClosing(onClose => open(note, onClose))
}

async function open(note: (message: string) => void, onClose: OnClose): Promise<Omit<World, 'close'>> {
  const { admin, kubeconfig, close: stopFixture } = await startFixture(note)
  onClose(stopFixture)
  for (const name of [namespace, dataServicesNamespace])
    await admin.call('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  const client = await openKube(kubeconfig)
  onClose(() => client.close())
  const manager = createManager({ client, log, clock, random: Math.random })
  // What the platform watches anyway: to ask the API server would be work that nobody does who waits for 500.
  const bindings = manager.cache(serviceBinding)
  const app = createDataServicesApp({ manager, kube: client, clock, log })
  await app.start()
  onClose(app.stop)
  await manager.start()
  onClose(manager.stop)
  const account = { host: 'github.com', id: 1, login: 'bench', type: 'Organization' }
  await put(client, tenant, { name: namespace }, { spec: { namespace, account, roles: [] } })
  const { server, store, close } = await offerServers(client, { durable: true })
  onClose(close)
  return {
    ...{ client, server, store },
    async apply(type, name, spec) {
      await put(client, type, { namespace, name }, { spec })
    },
    async untilReady(names) {
      const left = new Set(names)
      await waitUntil(
        `${names.length} ServiceBindings to be ready`,
        async seen => {
          for (const name of left) if (isReady(bindings.get({ namespace, name }))) left.delete(name)
          seen({ left: left.size })
          return left.size === 0
        },
        { timeoutMilliseconds: limits.usual * 60, everyMilliseconds: 10 },
      )
    },
  }
}
