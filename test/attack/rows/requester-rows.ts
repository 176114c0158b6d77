// Attacks on the name in which access is asked for.
import { clusterAdministrator, dave, mia, platform } from '../identities.ts'
import { remoteSync, repositoryGrant } from '../objects.ts'
import { apply, ownerOf, patch, post, type Row } from './row.ts'

const grants = '/apis/github.sekisho.dev/v1alpha1/namespaces/acme/repositorygrants'
const syncs = '/apis/apps.sekisho.dev/v1alpha1/namespaces/acme/remotesyncs'
const pinned = 'requested-by'
const ofSync = { ownerReferences: [ownerOf('apps.sekisho.dev/v1alpha1', 'RemoteSync', true)] }

export const requestRows: readonly Row[] = [
  post('dave asks in his own name', dave, grants, repositoryGrant('a', dave.user), 'allowed'),
  post('dave asks in mia’s name', dave, grants, repositoryGrant('a', mia.user), pinned),
  post('the administrator asks in dave’s name', clusterAdministrator, grants, repositoryGrant('a', dave.user), pinned),
  post('the platform asks in dave’s name without a RemoteSync', platform, grants, repositoryGrant('a', dave.user), pinned),
  post('the platform asks for dave’s RemoteSync', platform, grants, repositoryGrant('a', dave.user, ofSync), 'allowed'),
  post('dave asks in mia’s name as if for a RemoteSync', dave, grants, repositoryGrant('a', mia.user, ofSync), pinned),
  post(
    'the platform asks for a foreign kind of that name',
    platform,
    grants,
    repositoryGrant('a', dave.user, { ownerReferences: [ownerOf('apps.example.com/v1', 'RemoteSync', true)] }),
    pinned,
  ),
  post(
    'the platform asks for a RemoteSync that does not control the grant',
    platform,
    grants,
    repositoryGrant('a', dave.user, { ownerReferences: [ownerOf('apps.sekisho.dev/v1alpha1', 'RemoteSync')] }),
    pinned,
  ),
  patch(
    'dave applies a grant in mia’s name',
    dave,
    `${grants}/new?fieldManager=x`,
    repositoryGrant('new', mia.user),
    pinned,
    apply,
  ),
  post('dave makes a RemoteSync', dave, syncs, remoteSync('a', dave.user), 'allowed'),
  post('dave makes one in mia’s name', dave, syncs, remoteSync('a', mia.user), pinned),
  post('the platform makes one in mia’s name', platform, syncs, remoteSync('a', mia.user), pinned),
  patch('mia changes dave’s branch and leaves his name', mia, `${syncs}/dave`, { spec: { source: { branch: 'evil' } } }, pinned),
  patch(
    'mia changes dave’s branch in her own name',
    mia,
    `${syncs}/dave`,
    { spec: { source: { branch: 'next' }, requestedBy: mia.user } },
    'allowed',
  ),
  patch('mia puts dave in charge', mia, `${syncs}/mia`, { spec: { requestedBy: dave.user } }, pinned),
  patch('mia labels dave’s RemoteSync', mia, `${syncs}/dave`, { metadata: { labels: { a: 'b' } } }, 'allowed'),
  patch(
    'the platform wakes dave’s RemoteSync',
    platform,
    `${syncs}/dave`,
    { metadata: { annotations: { 'sekisho.dev/wake': 'x' } } },
    'allowed',
  ),
  patch('the platform changes dave’s branch', platform, `${syncs}/dave`, { spec: { source: { branch: 'x' } } }, pinned),
  patch('dave changes his own branch', dave, `${syncs}/dave`, { spec: { source: { branch: 'next' } } }, 'allowed'),
]
