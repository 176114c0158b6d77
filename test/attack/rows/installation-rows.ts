// Attacks on Installations: who may write, change, unhook and delete them.
import {
  clusterAdministrator,
  dave,
  garbageCollector,
  impostor,
  namespaceController,
  platform,
  platformAdministrator,
  replicaSetController,
} from '../identities.ts'
import { installation } from '../objects.ts'
import { apply, ownerOf, patch, post, type Row, remove } from './row.ts'

const installations = '/apis/github.sekisho.dev/v1alpha1/namespaces/acme/installations'
const one = `${installations}/github`
const onlyBroker = 'installation-writers'

export const installationRows: readonly Row[] = [
  ...[dave, clusterAdministrator, platformAdministrator, impostor, replicaSetController].flatMap(as => [
    post(`${as.user} creates an Installation`, as, installations, installation({ name: 'mine' }), onlyBroker),
    post(`${as.user} creates one by generateName`, as, installations, installation({ generateName: 'mine-' }), onlyBroker),
    remove(`${as.user} deletes one`, as, one, onlyBroker),
  ]),
  patch('dave sends an empty patch', dave, one, {}, onlyBroker),
  patch('dave labels one', dave, one, { metadata: { labels: { a: 'b' } } }, onlyBroker),
  patch('dave takes its finalizer', dave, one, { metadata: { finalizers: [] } }, onlyBroker),
  patch('dave becomes its owner', dave, one, { metadata: { ownerReferences: [ownerOf('v1', 'ConfigMap')] } }, onlyBroker),
  patch('dave writes its status', dave, `${one}/status`, { status: { appId: 1 } }, onlyBroker),
  patch(
    'dave applies with force under the broker’s manager',
    dave,
    `${one}?fieldManager=sekisho.dev/broker&force=true`,
    installation({ name: 'github' }),
    onlyBroker,
    apply,
  ),
  patch('dave applies a new one', dave, `${installations}/new?fieldManager=x`, installation({ name: 'new' }), onlyBroker, apply),
  remove('dave deletes all', dave, installations, onlyBroker),
  post('the platform creates one', platform, installations, installation({ name: 'mine' }), 'allowed'),
  patch('the platform wakes one', platform, one, { metadata: { annotations: { 'sekisho.dev/wake': 'x' } } }, 'allowed'),
  patch('the platform reports', platform, `${one}/status`, { status: { appId: 1 } }, 'allowed'),
  remove('the platform deletes one', platform, one, 'allowed'),
  remove('the namespace controller deletes one', namespaceController, one, 'allowed'),
  patch('the garbage collector unhooks one', garbageCollector, one, { metadata: { ownerReferences: [] } }, 'allowed'),
  patch('the garbage collector writes a status', garbageCollector, `${one}/status`, { status: { appId: 1 } }, onlyBroker),
]
