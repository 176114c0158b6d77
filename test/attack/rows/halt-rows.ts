// Attacks on Halts: lifting what somebody else halted, ending one without a record, halting others, and going on with an ID token
// after one was halted.
import {
  broker,
  clusterAdministrator,
  controllers,
  dave,
  garbageCollector,
  impostor,
  leaver,
  mia,
  namespaceController,
  platformAdministrator,
  sidelined,
} from '../identities.ts'
import { type Body, type Existing, repositoryGrant, tenant } from '../objects.ts'
import { allowed, expecting, type Row } from './row.ts'

const inNamespace = (namespace: string): string => `/apis/github.sekisho.dev/v1alpha1/namespaces/${namespace}/halts`
const [ours, theirs] = [inNamespace('acme'), inNamespace('sekisho-system')]
const host = 'github.localhost'

const halt = (name: string, requestedBy: string, target: object = { type: 'Everything' }, more: object = {}): Body => ({
  apiVersion: 'github.sekisho.dev/v1alpha1',
  kind: 'Halt',
  metadata: { name },
  spec: { target, reason: 'a token leaked', requestedBy, ...more },
})
const liftedBy = (by: string) => ({ spec: { lifted: { by, reason: 'it is over' } } })
const finalizer = { metadata: { finalizers: ['sekisho.dev/x'] } }

const owned = {
  metadata: {
    ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: '00000000-0000-4000-8000-000000000000' }],
  },
}

const writers = expecting('halt-writers')
const platformOrWriters = expecting('platform-halts', 'halt-writers')
const platformOrNamed = expecting('platform-halts', 'requested-by')
const named = expecting('requested-by')

/** In both languages. */
export const haltRows: readonly Row[] = [
  allowed.post('dave halts his tenant', dave, ours, halt('a', dave.user)),
  named.post('dave halts in mia’s name', dave, ours, halt('a', mia.user)),
  writers.post(
    'dave makes a Halt that is lifted from the start',
    dave,
    ours,
    halt('a', dave.user, undefined, liftedBy(dave.user).spec),
  ),
  allowed.patch('mia lifts dave’s Halt in her own name', mia, `${ours}/held`, liftedBy(mia.user)),
  writers.patch('mia lifts dave’s Halt in dave’s name', mia, `${ours}/held`, liftedBy(dave.user)),
  ...[dave, mia, platformAdministrator].flatMap(as => [
    writers.patch(`${as.user} gives a Halt an owner that is deleted`, as, `${ours}/held`, owned),
    writers.patch(`${as.user} lifts one and gives it an owner`, as, `${ours}/held`, { ...owned, ...liftedBy(as.user) }),
  ]),
  writers.post('dave makes a Halt with an owner that is deleted', dave, ours, {
    ...halt('a', dave.user),
    metadata: { name: 'a', ...owned.metadata },
  }),
  allowed.patch('mia labels dave’s Halt', mia, `${ours}/held`, { metadata: { labels: { a: 'b' } } }),
  allowed.patch('mia labels one that is lifted', mia, `${ours}/lifted`, { metadata: { labels: { a: 'b' } } }),
  ...[dave, mia, platformAdministrator, clusterAdministrator, impostor].map(as =>
    writers.remove(`${as.user} deletes a Halt`, as, `${ours}/held`),
  ),
  ...[dave, mia, impostor].flatMap(as => [
    // In the standalone form the impostor has another name than it writes, so both rules refuse it.
    platformOrNamed.post(`${as.user} halts everybody`, as, theirs, halt('a', as.user)),
    platformOrWriters.patch(`${as.user} lifts a Halt of a platform admin`, as, `${theirs}/held`, liftedBy(as.user)),
    platformOrWriters.patch(
      `${as.user} lifts one in a platform admin’s name`,
      as,
      `${theirs}/held`,
      liftedBy(platformAdministrator.user),
    ),
    writers.remove(`${as.user} deletes a Halt of a platform admin`, as, `${theirs}/held`),
  ]),
  ...[platformAdministrator, clusterAdministrator].flatMap(as => [
    allowed.post(`${as.user} halts everybody`, as, theirs, halt('a', as.user)),
    allowed.patch(`${as.user} lifts a Halt of the platform`, as, `${theirs}/held`, liftedBy(as.user)),
    writers.remove(`${as.user} deletes a Halt of the platform`, as, `${theirs}/held`),
  ]),
  ...[ours, theirs].flatMap(path => [
    allowed.patch('the platform adds its finalizer to a Halt', controllers, `${path}/held`, finalizer),
    allowed.patch('the platform reports about a Halt', controllers, `${path}/held/status`, { status: { observedGeneration: 1 } }),
    allowed.remove('the platform deletes a Halt that was lifted', controllers, `${path}/held`),
    allowed.remove('the namespace controller deletes a Halt with its namespace', namespaceController, `${path}/held`),
    allowed.remove('the garbage collector deletes a Halt with its owner', garbageCollector, `${path}/held`),
  ]),
  expecting('status-writers').patch('dave says who had a halted token', dave, `${ours}/held/status`, {
    status: { observedGeneration: 1 },
  }),
]

const places = expecting('halt-places')
const persons = expecting('halted-persons')
const elsewhere = expecting('halted-persons-elsewhere')
const eitherPersons = expecting('halted-persons', 'halted-persons-elsewhere')
const grants = '/apis/github.sekisho.dev/v1alpha1/namespaces/acme/repositorygrants'
const configMaps = '/api/v1/namespaces/acme/configmaps'
const answered = expecting('halted-answers')
const answers = '/apis/github.sekisho.dev/v1alpha1/namespaces/acme/grantapprovals'
const answerOf = (requestedBy: string): Body => ({
  apiVersion: 'github.sekisho.dev/v1alpha1',
  kind: 'GrantApproval',
  metadata: { name: 'a' },
  spec: { grant: { name: 'held', uid: 'u' }, answer: 'Deny', reason: 'mistaken', via: 'Page', requestedBy },
})
const configMap = (name: string): Body => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })

/** By policies alone. */
export const haltPolicyRows: readonly Row[] = [
  allowed.post(
    'dave halts what is of his tenant',
    dave,
    ours,
    halt('a', dave.user, { type: 'Tenant', tenant: { name: 'acme' } }),
  ),
  places.post(
    'dave halts another tenant from his own',
    dave,
    ours,
    halt('a', dave.user, { type: 'Tenant', tenant: { name: 'globex' } }),
  ),
  places.post(
    'dave halts another tenant’s grant',
    dave,
    ours,
    halt('a', dave.user, { type: 'Grant', grant: { namespace: 'globex', name: 'x' } }),
  ),
  places.post('dave halts where nothing is', dave, inNamespace('other'), halt('a', dave.user)),
  places.post('dave halts in the namespace of builds', dave, inNamespace('acme-build'), halt('a', dave.user)),
  ...[platformAdministrator, clusterAdministrator].map(as =>
    places.post(`${as.user} halts where admins of the tenant could lift it`, as, ours, halt('a', as.user)),
  ),
  allowed.post('dave, whom nobody halted, writes', dave, configMaps, configMap('a')),
  ...[leaver, sidelined].flatMap(as => [
    persons.post(`${as.user}, who is halted, writes`, as, configMaps, configMap('a')),
    eitherPersons.post(`${as.user}, who is halted, requests a grant`, as, grants, repositoryGrant('a', as.user)),
    persons.remove(`${as.user}, who is halted, deletes`, as, `${configMaps}/kube-root-ca.crt`),
    eitherPersons.patch(`${as.user}, who is halted, lifts the Halt`, as, `${ours}/held`, liftedBy(as.user)),
  ]),
  elsewhere.post(
    'the leaver, who is halted by the platform, creates a Tenant',
    leaver,
    '/apis/tenancy.sekisho.dev/v1alpha1/tenants',
    tenant('a'),
  ),
  elsewhere.patch('the leaver lifts the Halt of the platform', leaver, `${theirs}/of-leaver`, liftedBy(leaver.user)),
  allowed.post(
    'whom a tenant halted creates a Tenant: that Halt is about the namespace of the tenant',
    sidelined,
    '/apis/tenancy.sekisho.dev/v1alpha1/tenants',
    tenant('a'),
  ),
  allowed.post('whose Halt is lifted writes', mia, configMaps, configMap('a')),
  ...[leaver, sidelined].map(({ user }) =>
    answered.post(`the broker answers for a grant in the name of ${user}, who is halted`, broker, answers, answerOf(user)),
  ),
  ...[dave, mia].map(({ user }) =>
    allowed.post(`the broker answers in the name of ${user}, who is not halted`, broker, answers, answerOf(user)),
  ),
]

const person = (id: number) => ({ type: 'Person', person: { host, id } })

export const haltFixtures: readonly Existing[] = [
  { path: ours, object: halt('held', dave.user, { type: 'Grant', grant: { namespace: 'acme', name: 'x' } }) },
  { path: ours, object: halt('lifted', dave.user, person(1003), liftedBy(dave.user).spec) },
  { path: ours, object: halt('asked', dave.user, person(1002), { dryRun: true }) },
  { path: ours, object: halt('of-sidelined', dave.user, person(1010)) },
  // A tenant does not lock a platform admin out.
  { path: ours, object: halt('of-admin', dave.user, person(1)) },
  { path: theirs, object: halt('held', platformAdministrator.user, { type: 'Grant', grant: { namespace: 'acme', name: 'x' } }) },
  { path: theirs, object: halt('of-leaver', platformAdministrator.user, person(1009)) },
]
