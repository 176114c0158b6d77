// Attacks on reserved Secrets, and on Secrets that make others hand something over.
import {
  clusterAdministrator,
  dave,
  garbageCollector,
  impostor,
  namespaceController,
  platform,
  replicaSetController,
} from '../identities.ts'
import { secret } from '../objects.ts'
import { apply, patch, post, type Row, remove } from './row.ts'

const secrets = '/api/v1/namespaces/acme/secrets'
const tokenType = { type: 'kubernetes.io/service-account-token' }
const forAccount = { annotations: { 'kubernetes.io/service-account.name': 'default' } }

export const secretRows: readonly Row[] = [
  post('dave makes a Secret', dave, secrets, secret({ name: 'mine' }), 'allowed'),
  ...[dave, clusterAdministrator, impostor, replicaSetController].flatMap(as => [
    post(`${as.user} plants a reserved Secret`, as, secrets, secret({ name: 'ghtok-x' }), 'reserved-secrets'),
    post(`${as.user} plants one by generateName`, as, secrets, secret({ generateName: 'ghtok-' }), 'reserved-secrets'),
    remove(`${as.user} deletes a reserved Secret`, as, `${secrets}/ghtok-held`, 'reserved-secrets'),
  ]),
  patch('dave changes a reserved Secret', dave, `${secrets}/ghtok-held`, { data: { token: 'eQ==' } }, 'reserved-secrets'),
  patch('dave labels a reserved Secret', dave, `${secrets}/ghtok-held`, { metadata: { labels: { a: 'b' } } }, 'reserved-secrets'),
  patch(
    'dave applies one',
    dave,
    `${secrets}/ghtok-new?fieldManager=x`,
    secret({ name: 'ghtok-new' }),
    'reserved-secrets',
    apply,
  ),
  remove('dave deletes all Secrets', dave, secrets, 'reserved-secrets'),
  post('the platform makes a reserved Secret', platform, secrets, secret({ name: 'ghtok-x' }), 'allowed'),
  patch('the platform renews one', platform, `${secrets}/ghtok-held`, { data: { token: 'eQ==' } }, 'allowed'),
  remove('the namespace controller removes one', namespaceController, `${secrets}/ghtok-held`, 'allowed'),
  patch(
    'the garbage collector unhooks one',
    garbageCollector,
    `${secrets}/ghtok-held`,
    { metadata: { ownerReferences: [] } },
    'allowed',
  ),
  patch(
    'the garbage collector changes one',
    garbageCollector,
    `${secrets}/ghtok-held`,
    { data: { token: 'eQ==' } },
    'reserved-secrets',
  ),
  post(
    'a namespace of nobody has its own names',
    dave,
    '/api/v1/namespaces/other/secrets',
    secret({ name: 'ghtok-x' }),
    'allowed',
  ),
  post('dave asks Kubernetes for a token', dave, secrets, secret({ name: 't', ...forAccount }, tokenType), 'secret-kinds'),
  post('dave annotates an opaque Secret', dave, secrets, secret({ name: 't', ...forAccount }), 'secret-kinds'),
  post(
    'dave steers a build',
    dave,
    secrets,
    secret({ name: 't', annotations: { 'kpack.io/git': 'https://github.com' } }),
    'secret-kinds',
  ),
  patch(
    'dave annotates later',
    dave,
    `${secrets}/plain`,
    { metadata: { annotations: { 'tekton.dev/git-0': 'x' } } },
    'secret-kinds',
  ),
  patch('dave changes data', dave, `${secrets}/plain`, { data: { token: 'eQ==' } }, 'allowed'),
  patch('dave changes data of an old annotated Secret', dave, `${secrets}/annotated`, { data: { token: 'eQ==' } }, 'allowed'),
  post(
    'the platform annotates a Secret',
    platform,
    secrets,
    secret({ name: 't', annotations: { 'kpack.io/docker': 'x' } }),
    'allowed',
  ),
]
