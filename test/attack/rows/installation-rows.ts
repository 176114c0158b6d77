// Attacks on Installations: who may write, change, unhook and delete them.
import {
  broker,
  clusterAdministrator,
  controllers,
  dave,
  garbageCollector,
  impostor,
  namespaceController,
  platformAdministrator,
  replicaSetController,
} from '../identities.ts'
import { installation } from '../objects.ts'
import { allowed, expecting, ownerOf, type Row } from './row.ts'

const refused = expecting('installation-writers')
const refusedStatus = expecting('status-writers')
const installations = '/apis/github.sekisho.dev/v1alpha1/namespaces/acme/installations'
const one = `${installations}/github`

const proof = { method: 'OrganizationOwner', provedAt: '2026-01-01T00:00:00Z' }
/** Dave stands in for the binding of olivia. */
export const standingIn = { spec: { standIns: [{ id: 1002, login: 'dave', proof }] } }

export const installationRows: readonly Row[] = [
  ...[dave, clusterAdministrator, platformAdministrator, impostor, replicaSetController].flatMap(as => [
    refused.post(`${as.user} creates an Installation`, as, installations, installation({ name: 'mine' })),
    refused.post(`${as.user} creates one by generateName`, as, installations, installation({ generateName: 'mine-' })),
    refused.remove(`${as.user} deletes one`, as, one),
  ]),
  ...[dave, clusterAdministrator, platformAdministrator, impostor, replicaSetController, garbageCollector].map(as =>
    refused.patch(`${as.user} lets dave stand in`, as, one, standingIn),
  ),
  refused.apply('dave stands in under the broker’s manager', dave, `${one}?fieldManager=sekisho-broker&force=true`, {
    ...installation({ name: 'github' }),
    ...standingIn,
  }),
  refused.patch('dave sends an empty patch', dave, one, {}),
  refused.patch('dave labels one', dave, one, { metadata: { labels: { a: 'b' } } }),
  expecting('installation-writers', 'kind-finalizers').patch('dave removes its finalizer', dave, one, {
    metadata: { finalizers: [] },
  }),
  refused.patch('dave becomes its owner', dave, one, { metadata: { ownerReferences: [ownerOf('v1', 'ConfigMap')] } }),
  refusedStatus.patch('dave writes its status', dave, `${one}/status`, { status: { appId: 1 } }),
  refusedStatus.patch('dave says that somebody else’s installation is of the pool', dave, `${one}/status`, {
    status: { otherApps: [{ app: 'second', installationId: 1, permissions: {} }] },
  }),
  refused.post(
    'dave attaches somebody else’s installation as a sibling',
    dave,
    installations,
    installation({ name: 'github-second' }),
  ),
  refused.apply(
    'dave applies with force under the broker’s manager',
    dave,
    `${one}?fieldManager=sekisho.dev/broker&force=true`,
    installation({ name: 'github' }),
  ),
  refused.apply('dave applies a new one', dave, `${installations}/new?fieldManager=x`, installation({ name: 'new' })),
  refused.remove('dave deletes all', dave, installations),
  allowed.post('the broker creates one', broker, installations, installation({ name: 'mine' })),
  allowed.patch('the broker wakes one', broker, one, { metadata: { annotations: { 'sekisho.dev/wake': 'x' } } }),
  allowed.patch('the broker lets an owner stand in', broker, one, standingIn),
  allowed.patch('the platform wakes one', controllers, one, { metadata: { annotations: { 'sekisho.dev/wake': 'x' } } }),
  allowed.patch('the platform reports', controllers, `${one}/status`, { status: { appId: 1 } }),
  allowed.remove('the broker deletes one', broker, one),
  allowed.remove('the namespace controller deletes one', namespaceController, one),
  allowed.patch('the garbage collector removes its owner', garbageCollector, one, { metadata: { ownerReferences: [] } }),
  refusedStatus.patch('the garbage collector writes a status', garbageCollector, `${one}/status`, { status: { appId: 1 } }),
]
