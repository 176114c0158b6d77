// What `sekisho why` says of a grant that no RemoteSync owns.
import { expect, test } from 'vitest'
import type { Facts } from './facts.ts'
import { forApplication, grant, healthy } from './testing/facts.ts'
import { walk } from './walk.ts'

test('a grant for a workload has its own way', () => {
  const own: Partial<Facts> = {
    subject: { kind: 'RepositoryGrant', name: 'reader' },
    application: undefined,
    remoteSync: undefined,
    grant: forApplication({}),
  }
  expect(walk({ ...healthy, ...own }).steps).toMatchObject([
    { step: 'installation' },
    { step: 'grant', mark: 'ok', text: expect.stringContaining(' to Application shop') },
  ])
  const replaced = forApplication({ Ready: 'ApplicationReplaced: another one' })
  expect(walk({ ...healthy, ...own, grant: replaced }).first).toMatchObject({
    step: 'grant',
    cure: expect.stringContaining('create it again'),
  })
  const above = grant({ Approved: 'AboveCeiling: acme/new is not among the repositories' })
  expect(walk({ ...healthy, ...own, grant: above }).first).toMatchObject({
    step: 'grant',
    cure: expect.stringContaining('/onboard'),
  })
  const denied = grant({ Approved: 'DeniedByPolicy: rule x' })
  expect(walk({ ...healthy, ...own, grant: denied }).first).toMatchObject({
    step: 'grant',
    cure: expect.stringContaining('github|github.com|7'),
  })
})
