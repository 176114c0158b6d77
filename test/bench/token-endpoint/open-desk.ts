// The token desk and the git proxy as the controllers' process opens them: the server with TLS and its limits, TokenReview and
// pod, grants, Installations and Halts from caches and from the API server, the registry and the audit log in PostgreSQL.
import { Registry } from 'prom-client'
import { platformNamespace } from '../../../src/api/names.ts'
import { tenant } from '../../../src/api/tenancy/tenant.ts'
import { tenantsByNamespace } from '../../../src/controllers/kit/tenants-by-namespace.ts'
import { createGitHubMeter } from '../../../src/github/index.ts'
import { createManager } from '../../../src/kube/manager.ts'
import { createEventRecorder } from '../../../src/kube/object/events.ts'
import type { Clock } from '../../../src/lib/clock.ts'
import { reservePort } from '../../../src/lib/testing/reserved-port.ts'
import { silentLog as log } from '../../../src/lib/testing/silent-log.ts'
import { openGitProxy } from '../../../src/services/git-proxy/open.ts'
import { createPlatformSecrets } from '../../../src/services/platform-secrets.ts'
import { openTokenDesk } from '../../../src/services/token-desk/open.ts'
import { readStoreSettings } from '../../../src/store/config.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { openKube } from '../../fixtures/open-kube.ts'

export type DeskOptions = {
  /** With KUBECONFIG and what `readStoreSettings` reads. */
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  /** As one of several that elect a leader; otherwise it leads. */
  readonly isReplica: boolean
}

/** Nothing listens before `start`; controllers may be added to `deps.manager` until then. */
export async function openDesk({ environment, clock, isReplica }: DeskOptions) {
  const { location, sealingKeys } = readStoreSettings(environment)
  const metrics = new Registry()
  const whole = await openStore({ ...location, sealingKeys, clock, log, metrics })
  const { controllers: store } = whole
  const kube = await openKube(environment['KUBECONFIG'] ?? '')
  const leaderElection = { namespace: platformNamespace, name: 'bench-token-desk', identity: String(process.pid) }
  const manager = createManager({ client: kube, clock, log, random: Math.random, ...(isReplica && { leaderElection }) })
  const [tokenDeskPort, gitProxyPort] = [await reservePort(), await reservePort()]
  const settings = {
    ...{ tokenDeskPort, tokenDeskHost: 'localhost', gitProxyHost: 'localhost', gitProxyPort },
    ...{ tokenDeskAuthorityGeneration: 1, tokenDeskAuthorityOverlapHours: 720, redeliverySeconds: 300 },
  }
  const deps = { settings, store, kube, manager, clock, log, metrics }
  const meter = createGitHubMeter(metrics, clock)
  const events = createEventRecorder({ client: kube, clock, log, component: 'bench' })
  const tenantsIn = tenantsByNamespace(manager.cache(tenant))
  const secretOf = createPlatformSecrets({ client: kube, clock })
  const tokenDesk = await openTokenDesk(deps, { secretOf, tenantsIn, events, meter })
  const gitProxy = await openGitProxy(deps, { ...tokenDesk, meter })
  return {
    ...{ deps, tokenDesk, events, tokenDeskPort, gitProxyPort },
    async start() {
      await manager.start()
      await tokenDesk.start()
      await gitProxy.start()
    },
    async stop() {
      await manager.stop()
      await Promise.all([tokenDesk.stop(), gitProxy.stop()])
      await events.flush()
      await kube.close()
      await store.close()
    },
  }
}
