// Attempts to let the code of a fork run without an approval: a PreviewApproval that a person writes, one that says another way
// than its writer saw, and one that is changed or taken away.
import {
  broker,
  clusterAdministrator,
  controllers,
  dave,
  garbageCollector,
  impostor,
  namespaceController,
  platformAdministrator,
} from '../identities.ts'
import type { Body, Existing } from '../objects.ts'
import { allowed, expecting, type Row } from './row.ts'

const approvals = '/apis/apps.sekisho.dev/v1alpha1/namespaces/acme/previewapprovals'
const commit = (letter: string): string => letter.repeat(40)

const approval = (letter: string, via: string): Body => ({
  apiVersion: 'apps.sekisho.dev/v1alpha1',
  kind: 'PreviewApproval',
  metadata: { name: `shop-pr-7-${commit(letter).slice(0, 12)}` },
  spec: {
    pipeline: { name: 'shop', uid: 'u' },
    repository: 3001,
    number: 7,
    headCommit: commit(letter),
    by: { id: 1002, login: 'dave' },
    via,
  },
})

const refused = expecting('preview-approval-writers')
const refusedOwn = expecting('preview-approval-writers', 'own-writes')
const held = `${approvals}/shop-pr-7-${commit('a').slice(0, 12)}`
const label = { metadata: { labels: { a: 'b' } } }

/** In both forms of the platform. */
export const approvalRows: readonly Row[] = [
  ...[dave, impostor, platformAdministrator, clusterAdministrator].flatMap(as => [
    ...['Page', 'Comment', 'Trusted'].map(via =>
      refused.post(`${as.user} approves a commit of a fork (${via})`, as, approvals, approval('b', via)),
    ),
    refused.apply(
      `${as.user} applies an approval`,
      as,
      `${approvals}/shop-pr-7-${commit('b').slice(0, 12)}?fieldManager=x`,
      approval('b', 'Review'),
    ),
    refused.patch(`${as.user} labels an approval`, as, held, label),
    refused.patch(`${as.user} has an approval deleted with another owner`, as, held, { metadata: { ownerReferences: [] } }),
    refused.remove(`${as.user} deletes an approval`, as, held),
  ]),
  ...['Page', 'CommandLine'].map(via =>
    allowed.post(`the broker writes an approval (${via})`, broker, approvals, approval('b', via)),
  ),
  ...['Comment', 'Review', 'Trusted'].map(via =>
    allowed.post(`the controllers write an approval (${via})`, controllers, approvals, approval('b', via)),
  ),
  allowed.remove('the controllers delete one that is superseded', controllers, held),
  allowed.remove('the garbage collector deletes one with its AppPipeline', garbageCollector, held),
  allowed.remove('the namespace controller deletes one with its namespace', namespaceController, held),
]

/** Where broker and controllers are two: neither writes what only the other one can have seen. */
export const approvalProcessRows: readonly Row[] = [
  ...['Comment', 'Review', 'Trusted'].map(via =>
    refused.post(`the broker writes an approval that it did not see (${via})`, broker, approvals, approval('b', via)),
  ),
  ...['Page', 'CommandLine'].map(via =>
    refused.post(`the controllers write an approval that they did not see (${via})`, controllers, approvals, approval('b', via)),
  ),
  refusedOwn.remove('the broker deletes an approval', broker, held),
  refusedOwn.patch('the broker changes an approval', broker, held, label),
]

export const approvalFixtures: readonly Existing[] = [{ path: approvals, object: approval('a', 'Comment') }]
