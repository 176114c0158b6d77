// The broker's ways to approve a commit of a fork and to answer for a grant, asked by those who cannot: another tenant, a
// viewer, a stranger. That those who may only read the repository approve nothing that waits is tried by deputies/forks.
import type { Attack } from '../attack.ts'
import type { Actor } from '../world/actors.ts'
import { type Ask, ask } from './broker.ts'

const commit = 'a'.repeat(40)
const actors: readonly Actor[] = ['gary', 'noah', 'stranger']

function attempts(as: Actor): readonly Ask[] {
  const post = (name: string, path: string, headCommit: unknown = commit): Ask => ({
    name,
    as,
    path,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ headCommit }),
    statuses: [400, 401, 403, 404],
  })
  return [
    post('approve a commit of acme', '/api/v1/tenants/acme/previews/shop/1/approval'),
    post('approve by a short id', '/api/v1/tenants/acme/previews/shop/1/approval', commit.slice(0, 12)),
    post('approve with a list of commits', '/api/v1/tenants/acme/previews/shop/1/approval', [commit]),
    post('approve through another path', '/api/v1/tenants/globex%2f..%2facme/previews/shop/1/approval'),
    post('approve in the platform’s namespace', '/api/v1/tenants/sekisho-system/previews/shop/1/approval'),
    {
      name: 'send the form of the page without a session',
      as,
      path: '/tenants/acme/previews/approve',
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ csrf: 'x', pipeline: 'shop', number: '1', headCommit: commit }).toString(),
      statuses: [400, 401, 403, 404],
    },
    ...['Approve', 'Deny'].map(
      (answer): Ask => ({
        name: `answer for a grant of acme without a session (${answer})`,
        as,
        path: '/tenants/acme/grants/answer',
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({
          ...{ csrf: 'x', grant: 'demo-release', uid: '0a5e1f7c-3b1d-4c62-9f0e-6d2f8b7a9c11' },
          ...{ answer, reason: 'an attack' },
        }).toString(),
        statuses: [400, 401, 403, 404],
      }),
    ),
  ]
}

export const approvalAttacks: readonly Attack[] = [
  {
    name: 'broker/approvals',
    as: 'gary of globex, noah, and a client without a credential',
    against: 'commits of forks, and grants, that wait for an approval in acme',
    tries: 'Approves a commit by the API and by the form of the page, and answers for a grant by its form.',
    expected: ['broker', 'authentication'],
    attempts: world => actors.flatMap(as => attempts(as).map(planned => ask(world, planned))),
  },
]
