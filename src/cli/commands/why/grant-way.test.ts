// What `sekisho why` says of a grant that no RemoteSync owns.
import { describe, expect, test } from 'vitest'
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

describe('a grant that is delivered as a Secret', () => {
  const facts = (texts: Readonly<Record<string, string>>): Facts => ({
    ...healthy,
    subject: { kind: 'RepositoryGrant', name: 'reader' },
    application: undefined,
    remoteSync: undefined,
    grant: forApplication(texts, 'Secret'),
  })

  test('says whether the token is there', () => {
    expect(walk(facts({ Delivered: 'True' })).steps.at(-1)).toEqual({ step: 'secret', mark: 'ok', text: 'done' })
    expect(walk(facts({})).first).toMatchObject({ step: 'secret', mark: 'waiting' })
    expect(walk(facts({ Ready: 'Halted: by olivia' })).steps.at(-1)).toMatchObject({
      step: 'secret',
      mark: 'open',
      text: 'waits for the grant (Halted)',
    })
  })

  test.each([
    ['NameTaken', 'a platform admin deletes the Secret'],
    ['SubjectNotFound', 'kubectl create serviceaccount'],
    ['TokenNotIssued', 'sekisho audit'],
    ['RefusedByCluster', 'quota'],
  ])('%s has its reason and a cure', (reason, cure) => {
    expect(walk(facts({ Delivered: `${reason}: why it is so` })).first).toEqual({
      step: 'secret',
      mark: 'wrong',
      text: `${reason}: why it is so`,
      cure: expect.stringContaining(cure),
    })
  })
})
