import { expect, test } from 'vitest'
import type { InstallationFacts, OrganizationMembership } from '../../github/index.ts'
import { type ProofFacts, prove } from './proof.ts'

const installation: InstallationFacts = {
  id: 77,
  appId: 5001,
  account: { id: 2001, login: 'acme', type: 'Organization' },
  suspendedAt: undefined,
  repositorySelection: 'all',
  permissions: { contents: 'read' },
}
const owner: OrganizationMembership = { state: 'active', role: 'admin', organizationId: 2001, userId: 1001 }
const facts: ProofFacts = { appId: 5001, personId: 1001, installation, membership: owner }
const personal = { ...installation, account: { id: 1001, login: 'olivia', type: 'User' as const } }

test('an active owner of the organisation is proved', () => {
  expect(prove(facts)).toMatchObject({ proved: true, method: 'OrganizationOwner' })
})
test('the holder of a user account is proved', () => {
  expect(prove({ ...facts, installation: personal, membership: undefined })).toMatchObject({
    proved: true,
    method: 'AccountHolder',
  })
})

const refusals: readonly [string, Partial<ProofFacts>, string][] = [
  ['an installation that the person cannot see', { installation: undefined }, 'Visible'],
  ['an installation of another App', { installation: { ...installation, appId: 9 } }, 'OurApp'],
  ['a suspended installation', { installation: { ...installation, suspendedAt: new Date(0) } }, 'NotSuspended'],
  ["another person's user account", { personId: 1002, installation: personal }, 'AccountHolder'],
  ['a person who is not a member', { membership: undefined }, 'SameOrganization'],
  [
    'a membership in an organisation of the same login but another id',
    { membership: { ...owner, organizationId: 2002 } },
    'SameOrganization',
  ],
  ["another person's membership", { membership: { ...owner, userId: 1002 } }, 'SameOrganization'],
  ['a plain member', { membership: { ...owner, role: 'member' } }, 'ActiveOwner'],
  ['an invited owner', { membership: { ...owner, state: 'pending' } }, 'ActiveOwner'],
]
test.each(refusals)('%s is refused', (_name, change, reason) => {
  expect(prove({ ...facts, ...change })).toMatchObject({ proved: false, refusal: { reason } })
})
