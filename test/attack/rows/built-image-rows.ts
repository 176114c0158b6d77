// What people may do to the image of an Application that a RemoteSync builds. The rule is a policy only, so that these rows are
// not in the matrix.
import { clusterAdministrator, controllers, dave, impostor, platformAdministrator } from '../identities.ts'
import { application, type Existing, followers } from '../objects.ts'
import { allowed, expecting, type Row } from './row.ts'

const group = '/apis/apps.sekisho.dev/v1alpha1/namespaces'
const applications = `${group}/acme/applications`
const commit = 'a'.repeat(40)
const built = { image: 'registry.test/built', commit }

function remoteSync(name: string, spec: object, finalizers: readonly string[] = []): Existing {
  const follower = followers.find(({ kind }) => kind === 'RemoteSync')
  if (follower === undefined) throw new Error('RemoteSync does not follow a repository any more')
  const { metadata, ...object } = follower.object(name, dave.user, spec)
  return { path: follower.path, object: { ...object, metadata: { ...metadata, finalizers } }, leaving: finalizers.length > 0 }
}

export const builtImageFixtures: readonly Existing[] = [
  { path: applications, object: application('synced', built) },
  { path: applications, object: application('unbuilt') },
  { path: applications, object: application('shared', built) },
  { path: applications, object: application('by-hand', built) },
  { path: applications, object: application('resting', built) },
  { path: applications, object: application('released', built) },
  { path: `${group}/other/applications`, object: application('synced', built) },
  remoteSync('of-synced', { application: 'synced' }),
  remoteSync('of-several', { application: 'first', otherApplications: ['second', 'shared'] }),
  remoteSync('of-unbuilt', { application: 'unbuilt' }),
  remoteSync('of-absent', { application: 'absent' }),
  remoteSync('of-resting', { application: 'resting', suspend: true }),
  remoteSync('of-released', { application: 'released' }, ['example.com/held']),
]

const refused = expecting('built-images')
const synced = `${applications}/synced`
const own = { spec: { image: 'registry.test/own', commit: null } }
const manifest = (spec: object) => ({ ...application('synced', spec), metadata: { name: 'synced', namespace: 'acme' } })
const bySide = (path: string): string => `${path}?fieldManager=kubectl&force=true`

/** Refused while the rule is in force. */
export const builtImageRows: readonly Row[] = [
  ...[dave, impostor, platformAdministrator, clusterAdministrator].flatMap(as => [
    refused.patch(`${as.user} sets another image`, as, synced, own),
    refused.patch(`${as.user} keeps the image and removes its commit`, as, synced, { spec: { commit: null } }),
  ]),
  refused.patch('dave removes the image', dave, synced, { spec: { image: null, commit: null } }),
  refused.apply('dave applies a file with another image', dave, bySide(synced), manifest({ image: 'registry.test/own' })),
  refused.patch('dave sets an image before the first build', dave, `${applications}/unbuilt`, own),
  refused.patch('dave sets the image of one of several that share a build', dave, `${applications}/shared`, own),

  allowed.apply('dave applies a file with the same image', dave, bySide(synced), manifest({ image: built.image })),
  allowed.apply('dave applies a file without an image', dave, bySide(synced), manifest({ env: [{ name: 'A', value: 'b' }] })),
  allowed.patch('dave changes something else', dave, synced, { spec: { env: [{ name: 'A', value: 'b' }] } }),
  allowed.patch('dave runs an earlier release', dave, synced, { spec: { pinnedRelease: 1 } }),
  allowed.patch('dave runs the newest release again', dave, synced, { spec: { pinnedRelease: null } }),
  allowed.patch('dave restarts', dave, synced, { spec: { restartedAt: '2026-01-01T00:00:00Z' } }),
  allowed.patch('the platform sets image and commit', controllers, synced, { spec: { image: 'x', commit: 'b'.repeat(40) } }),
  allowed.patch('dave sets the image of an Application without a RemoteSync', dave, `${applications}/by-hand`, own),
  allowed.patch('dave sets the image while the RemoteSync is suspended', dave, `${applications}/resting`, own),
  allowed.patch('dave sets the image while the RemoteSync is being deleted', dave, `${applications}/released`, own),
  allowed.patch('dave sets the image of the same name elsewhere', dave, `${group}/other/applications/synced`, own),
  allowed.post(
    'dave creates an Application with an image beside its RemoteSync',
    dave,
    applications,
    application('absent', built),
  ),
  allowed.remove('dave deletes the Application', dave, synced),
]
