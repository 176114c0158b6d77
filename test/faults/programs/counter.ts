// A small controller process for the test of leader election: counts up in a ConfigMap as long as it leads, under its own field manager.
// Arguments: namespace, name of the Lease and of the counter, identity. It ends as the product's processes do: by SIGTERM, in good order.
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

// An error here is the process's end with a code that is not 0, by Node's own rule for what nobody handles.
process.once('SIGTERM', () => void stop())
await manager.start()
console.log('started')
