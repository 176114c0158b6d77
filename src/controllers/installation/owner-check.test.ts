// Of whom GitHub is asked whether they own an account, in which order, and what one answer costs.
import { expect, test } from 'vitest'
import type { Installation } from '../../api/github/installation.ts'
import type { InstallationFacts } from '../../github/index.ts'
import { SecretString } from '../../lib/secret-string.ts'
import { createFakeClock } from '../../lib/testing/fake-clock.ts'
import { silentLog } from '../../lib/testing/silent-log.ts'
import { installationObject } from '../../services/token-desk/testing/desk-objects.ts'
import { checkOwner, type OwnerCheckDeps, type OwnerSubject } from './owner-check.ts'

const proof = { method: 'OrganizationOwner' as const, provedAt: '2026-01-01T00:00:00Z' }
const person = (id: number) => ({ id, login: `person-${id}`, proof })
const account = { id: 2001, login: 'acme', type: 'Organization' as const }

/** Whom olivia's binding has as stand-ins; `roles` are those of GitHub by the id of the person, `login` what its id has there. */
async function answered(
  standIns: Installation['spec']['standIns'],
  roles: Readonly<Record<number, 'admin' | 'member'>>,
  login = (id: number) => `person-${id}`,
) {
  const requests: string[] = []
  const mints: string[] = []
  const nothing = async (): Promise<void> => {}
  const json = (status: number, body: unknown) =>
    new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } })
  const client = {
    installation: async () => ({ account }),
    mintOrganizationReader: async () => {
      mints.push('mint')
      return { token: new SecretString('t'), expiresAt: new Date(0), permissions: { members: 'read' }, repositoryIds: [] }
    },
    revoke: nothing,
  }
  const deps: OwnerCheckDeps = {
    tokens: { intend: async () => 'x', recordMinted: nothing, markRevoked: nothing, abandon: nothing },
    audit: { append: nothing },
    log: silentLog,
    clock: createFakeClock(0),
    async fetch(url) {
      const { pathname } = new URL(url)
      requests.push(pathname)
      const asked = Number(/\/user\/(\d+)$/.exec(pathname)?.[1])
      if (asked > 0) return json(200, { id: asked, login: login(asked) })
      const id = [1001, 1002, 1003].find(one => pathname === `/orgs/acme/memberships/${login(one)}`)
      const role = id === undefined ? undefined : roles[id]
      if (role === undefined) return json(404, { message: 'Not Found' })
      return json(200, { state: 'active', role, organization: { id: 2001 }, user: { id } })
    },
  }
  const { spec } = installationObject
  const object = { ...installationObject, spec: { ...spec, ...(standIns && { standIns }) } }
  const installation = { id: 77, account, permissions: { members: 'read' } } as unknown as InstallationFacts
  const endpoints = { host: 'github.localhost', api: 'http://api.test', web: 'http://web.test' }
  const subject = { app: { client, endpoints, appId: 1 }, object, installation } as unknown as OwnerSubject
  return { answer: await checkOwner(deps, subject), requests: requests.length, mints: mints.length }
}

test('who stands in is asked about only when who bound it is no owner, in their order, with one token', async () => {
  const standIns = [person(1002), person(1003)]
  const all = { 1001: 'admin', 1002: 'admin', 1003: 'admin' } as const
  expect(await answered(standIns, all)).toEqual({ answer: { kind: 'owner' }, requests: 2, mints: 1 })
  expect(await answered(standIns, { ...all, 1001: 'member' })).toEqual({
    answer: { kind: 'stand-in', standIn: { id: 1002, login: 'person-1002' } },
    requests: 4,
    mints: 1,
  })
  expect(await answered(standIns, { 1001: 'member', 1002: 'member', 1003: 'admin' })).toEqual({
    answer: { kind: 'stand-in', standIn: { id: 1003, login: 'person-1003' } },
    requests: 6,
    mints: 1,
  })
})

test('none of them owns it any more: nobody answers, and the message says both', async () => {
  const { answer } = await answered([person(1002)], { 1001: 'member', 1002: 'member' })
  expect(answer).toMatchObject({
    kind: 'not-owner',
    message: expect.stringContaining('olivia (id 1001) is no longer an owner of acme, and nobody who stands in owns it'),
  })
  expect((await answered(undefined, { 1002: 'admin' })).answer).toMatchObject({ kind: 'not-owner' })
})

test('who took the login of a person who stands in does not answer for the binding', async () => {
  // The person 1002 is called otherwise now; 1003, an owner, is called person-1002.
  const login = (id: number) => (id === 1002 ? 'renamed' : id === 1003 ? 'person-1002' : `person-${id}`)
  const { answer } = await answered([person(1002)], { 1001: 'member', 1003: 'admin' }, login)
  expect(answer).toMatchObject({ kind: 'not-owner' })
})
