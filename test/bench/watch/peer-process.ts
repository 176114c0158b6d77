// The peer of the bench `watch`: the informer of @kubernetes/client-node as its documentation uses it, with listeners that count.
import {
  CustomObjectsApi,
  KubeConfig,
  type KubernetesListObject,
  type KubernetesObject,
  makeInformer,
} from '@kubernetes/client-node'
import { application } from '../../../src/api/apps/application.ts'
import { dispatchCommands, liveHeapBytes } from '../harness/command-server.ts'

const [group = '', version = ''] = application.apiVersion.split('/')
const { plural } = application
let changes = 0
let wanted = Number.POSITIVE_INFINITY
const reached = Promise.withResolvers<void>()

function count(): void {
  changes += 1
  if (changes >= wanted) reached.resolve()
}

await dispatchCommands({
  async list(command) {
    const config = new KubeConfig()
    config.loadFromOptions({
      clusters: [{ name: 'replay', server: String(command['server']), skipTLSVerify: true }],
      users: [{ name: 'bench' }],
      contexts: [{ name: 'replay', cluster: 'replay', user: 'bench' }],
      currentContext: 'replay',
    })
    const api = config.makeApiClient(CustomObjectsApi)
    const list = async (): Promise<KubernetesListObject<KubernetesObject>> =>
      api.listClusterCustomObject({ group, version, plural })
    const informer = makeInformer<KubernetesObject>(config, `/apis/${group}/${version}/${plural}`, list)
    informer.on('add', count)
    informer.on('update', count)
    informer.on('delete', count)
    informer.on('error', (error: unknown) => reached.reject(error))
    await informer.start()
    changes = 0
    return { objects: informer.list().length }
  },
  async follow(command) {
    wanted = Number(command['events'])
    if (changes >= wanted) reached.resolve()
    await reached.promise
    return { changes }
  },
  memory: async () => ({ heapBytes: liveHeapBytes() }),
})
process.exit(0)
