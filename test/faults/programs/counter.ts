// A small controller process for the leader election test: increments a counter in a ConfigMap while it leads, under its own
// field manager. Arguments: namespace, name of the Lease and of the counter, identity. SIGTERM ends it in an orderly way, as it
// does the product's processes.
import { configMaps } from '../../../src/api/builtin/index.ts'
import { createKubeClient } from '../../../src/kube/client/kube-client.ts'
import { done, requeueAfter } from '../../../src/kube/controller/controller.ts'
import { loadKubeConnection } from '../../../src/kube/kubeconfig/kubeconfig.ts'
import { createManager } from '../../../src/kube/manager.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { silentLog } from '../../../src/lib/testing/silent-log.ts'

const [namespace = '', name = '', identity = ''] = process.argv.slice(2)
const pauseMilliseconds = 25

const connection = await loadKubeConnection({ environment: process.env, clock: systemClock })
const client = createKubeClient({ connection, component: identity, clock: systemClock, random: Math.random })
const manager = createManager({
  client,
  log: silentLog,
  clock: systemClock,
  random: Math.random,
  leaderElection: { namespace, name, identity },
})
const counters = manager.cache(configMaps)
manager.add({
  name: 'counter',
  for: configMaps,
  resyncMilliseconds: 0,
  async reconcile({ key }) {
    if (key.namespace !== namespace || key.name !== name) return done
    const count = Number(counters.get(key)?.data?.['count'] ?? '0') + 1
    await manager.client.mergePatch(configMaps, key, { data: { count: String(count), by: identity } }, { fieldManager: identity })
    return requeueAfter(pauseMilliseconds)
  },
})

async function stop(): Promise<void> {
  await manager.stop()
  await client.close()
  process.exit(0)
}

// An unhandled error ends the process with a non-zero exit code, which is Node's default.
process.once('SIGTERM', () => void stop())
await manager.start()
console.log('started')
