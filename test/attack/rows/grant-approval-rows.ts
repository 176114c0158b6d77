// Attacks on the answers to grants: one that a program gives, one in the name of another person, and one that somebody else
// than its author changes or takes back. That nobody answers for their own grant is decided by the controller
// (grant-approvals.test.ts).
import {
  broker,
  clusterAdministrator,
  controllers,
  dave,
  garbageCollector,
  impostor,
  mia,
  namespaceController,
  platformAdministrator,
} from '../identities.ts'
import type { Body, Existing } from '../objects.ts'
import { allowed, expecting, type Row } from './row.ts'

const answers = '/apis/github.sekisho.dev/v1alpha1/namespaces/acme/grantapprovals'
const held = `${answers}/held`

const answer = (name: string, requestedBy: string, more: object = {}): Body => ({
  apiVersion: 'github.sekisho.dev/v1alpha1',
  kind: 'GrantApproval',
  metadata: { name },
  spec: { grant: { name: 'held', uid: 'u' }, answer: 'Approve', reason: 'the release needs it', requestedBy, ...more },
})
/** An answer that says that it was given on a page, and one of a platform admin in an emergency. */
const onPage = (requestedBy: string, more: object = {}): Body => answer('a', requestedBy, { via: 'Page', ...more })
const breakGlass = (requestedBy: string, more: object = {}): Body =>
  answer('a', requestedBy, { breakGlass: true, lifetimeSeconds: 3600, ...more })

const writers = expecting('grant-approval-writers')
const writersOrOwn = expecting('grant-approval-writers', 'own-writes')
const named = expecting('requested-by')
const opened = expecting('break-glass-writers')
const openedOrNamed = expecting('break-glass-writers', 'requested-by')
const openedOrWriters = expecting('break-glass-writers', 'grant-approval-writers', 'requested-by')
const namedOrWriters = expecting('grant-approval-writers', 'requested-by')
const owned = {
  metadata: {
    ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: '00000000-0000-4000-8000-000000000000' }],
  },
}

/** In both languages. */
export const grantApprovalRows: readonly Row[] = [
  allowed.post('dave answers', dave, answers, answer('a', dave.user)),
  named.post('dave answers in mia’s name', dave, answers, answer('a', mia.user)),
  ...[impostor, clusterAdministrator, controllers, broker].flatMap(as => [
    // In the standalone form some have another name than they write, so both rules refuse it.
    namedOrWriters.post(`${as.user}, which is no person, answers`, as, answers, answer('a', as.user)),
    namedOrWriters.post(`${as.user} answers in dave’s name`, as, answers, answer('a', dave.user)),
  ]),
  allowed.post('the broker writes what dave answered on the page', broker, answers, onPage(dave.user)),
  namedOrWriters.post('the broker writes on the page for a program', broker, answers, onPage(impostor.user)),
  namedOrWriters.post('the broker writes on the page for itself', broker, answers, onPage(broker.user)),
  namedOrWriters.post('the broker writes on the page for nobody', broker, answers, onPage('github|github.localhost|0')),
  ...[dave, mia, platformAdministrator, clusterAdministrator, impostor].flatMap(as => [
    namedOrWriters.post(`${as.user} says that an answer of their own was given on the page`, as, answers, onPage(as.user)),
    namedOrWriters.post(`${as.user} says that erin answered on the page`, as, answers, onPage('github|github.localhost|1011')),
  ]),
  ...[platformAdministrator, clusterAdministrator].flatMap(as => [
    allowed.post(`${as.user}, a platform admin, breaks the glass`, as, answers, breakGlass(as.user)),
    named.post(`${as.user} breaks the glass in dave’s name`, as, answers, breakGlass(dave.user)),
  ]),
  ...[dave, mia].flatMap(as => [
    opened.post(`${as.user} breaks the glass`, as, answers, breakGlass(as.user)),
    openedOrNamed.post(`${as.user} breaks the glass in the name of a platform admin`, as, answers, breakGlass('root')),
  ]),
  ...[impostor, controllers, broker].flatMap(as => [
    openedOrWriters.post(`${as.user} breaks the glass`, as, answers, breakGlass(as.user)),
    openedOrWriters.post(`${as.user} breaks the glass in dave’s name`, as, answers, breakGlass(dave.user)),
  ]),
  ...[dave, mia, platformAdministrator, clusterAdministrator, impostor].flatMap(as => [
    writers.patch(`${as.user} labels dave’s answer`, as, held, { metadata: { labels: { a: 'b' } } }),
    writers.patch(`${as.user} gives it an owner that is deleted`, as, held, owned),
  ]),
  ...[mia, platformAdministrator, clusterAdministrator, impostor].map(as =>
    writers.remove(`${as.user} takes dave’s answer back`, as, held),
  ),
  allowed.remove('dave takes his answer back', dave, held),
  allowed.remove('the controllers delete one that counts for nothing any more', controllers, held),
  allowed.remove('the garbage collector deletes one', garbageCollector, held),
  allowed.remove('the namespace controller deletes one with its namespace', namespaceController, held),
]

/** Where broker and controllers are two. */
export const grantApprovalProcessRows: readonly Row[] = [
  writersOrOwn.remove('the broker takes dave’s answer back', broker, held),
  namedOrWriters.post('the controllers write what only the broker can have seen', controllers, answers, onPage(dave.user)),
]

export const grantApprovalFixtures: readonly Existing[] = [{ path: answers, object: answer('held', dave.user) }]
