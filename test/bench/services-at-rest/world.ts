// The surroundings of the bench: a control plane with the rights of the production form and one tenant, a PostgreSQL server
// whose statements are counted on the wire, and data-services as a process as in its pod, with its own ServiceAccount.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AdminClient } from '../../../dev/cluster/control-plane/admin-client.ts'
import { readClusterSettings } from '../../../dev/cluster/settings.ts'
import { tenant } from '../../../src/api/tenancy/tenant.ts'
import type { Server } from '../../../src/data-services/adapters/postgresql/server.ts'
import type { KubeClient } from '../../../src/kube/client/client.ts'
import { reservePort } from '../../../src/lib/testing/reserved-port.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { type OnClose, openClosing } from '../../fixtures/open-closing.ts'
import { openKube } from '../../fixtures/open-kube.ts'
import { giveRights, installRights } from '../../fixtures/platform-rights.ts'
import { put } from '../../fixtures/put-object.ts'
import { accountOf, type ProcessPlan, programOf } from '../../platform/process-plans.ts'
import { type StatementRelay, startStatementRelay } from '../../proxies/statement-relay.ts'
import { type AppFolder, makeAppFolder } from '../memory/app-folder.ts'
import type { MeasuredProcess } from '../memory/measured-process.ts'
import { startPlanned } from '../memory/platform.ts'
import { startFixture } from '../reconcile/fixture.ts'
import { offerServers } from '../services/servers.ts'
import { metricsOf, sumOf } from './metrics.ts'

export const namespace = 'bench-services'

const plan: ProcessPlan = {
  name: 'data-services',
  program: programOf('data-services'),
  account: accountOf('production', 'data-services'),
  variables: {},
}

export type World = {
  readonly admin: AdminClient
  readonly client: KubeClient
  /** Resolves when it leads and has looked at every object that there is. */
  readonly start: () => Promise<MeasuredProcess>
  /**
   * A server of databases and a store of buckets, each with a class that is ready; data-services must run. `server` is the way
   * beside it, which is not counted.
   */
  readonly offer: () => Promise<{ readonly wire: Pick<StatementRelay, 'count'>; readonly server: Server }>
  readonly close: () => Promise<void>
}

export function openWorld(note: (message: string) => void): Promise<World> {
  return openClosing(onClose => open(note, onClose))
}

async function open(note: (message: string) => void, onClose: OnClose): Promise<Omit<World, 'close'>> {
  const { admin, kubeconfig, close: stopFixture } = await startFixture(note)
  onClose(stopFixture)
  await installRights(admin)
  await admin.call('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  await giveRights(admin, namespace, ['application'])
  const client = await openKube(kubeconfig)
  onClose(() => client.close())
  const account = { host: 'github.com', id: 1, login: 'bench', type: 'Organization' }
  await put(client, tenant, { name: namespace }, { spec: { namespace, account, roles: [] } })
  const folder = await mkdtemp(join(tmpdir(), 'sekisho-services-at-rest-'))
  onClose(() => rm(folder, { recursive: true, force: true }))
  const app = await makeAppFolder(join(folder, 'app'), readClusterSettings().repository)
  return {
    admin,
    client,
    start: () => startProcess({ folder, app, controlPlane: { admin, kubeconfig } }, onClose),
    async offer() {
      let relay: StatementRelay | undefined
      const servers = await offerServers(client, {
        async relayed(server) {
          relay = await startStatementRelay(server)
          onClose(relay.close)
          return relay.port
        },
      })
      onClose(servers.close)
      if (relay === undefined) throw new Error('the server was offered without its relay')
      return { wire: relay, server: servers.server }
    },
  }
}

type Place = {
  readonly folder: string
  readonly app: AppFolder
  readonly controlPlane: { readonly admin: AdminClient; readonly kubeconfig: string }
}

async function startProcess(place: Place, onClose: OnClose): Promise<MeasuredProcess> {
  const started = await startPlanned(plan, await reservePort(), { ...place, logs: place.folder })
  onClose(started.stop)
  await started.untilReady()
  await waitUntil('data-services to lead, and no key to wait', async seen => {
    const metrics = await metricsOf(started)
    const busy = sumOf(metrics, 'workqueue_depth') + sumOf(metrics, 'workqueue_unfinished_work_seconds')
    return seen(sumOf(metrics, 'leader_election_master_status')) === 1 && seen(busy) === 0
  })
  return started
}
