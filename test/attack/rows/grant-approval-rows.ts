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

const answer = (name: string, requestedBy: string): Body => ({
  apiVersion: 'github.sekisho.dev/v1alpha1',
  kind: 'GrantApproval',
  metadata: { name },
  spec: { grant: { name: 'held', uid: 'u' }, answer: 'Approve', reason: 'the release needs it', requestedBy },
})

const writers = expecting('grant-approval-writers')
const writersOrOwn = expecting('grant-approval-writers', 'own-writes')
const named = expecting('requested-by')
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
export const grantApprovalProcessRows: readonly Row[] = [writersOrOwn.remove('the broker takes dave’s answer back', broker, held)]

export const grantApprovalFixtures: readonly Existing[] = [{ path: answers, object: answer('held', dave.user) }]
