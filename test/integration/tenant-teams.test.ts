// The teams that a Tenant names, checked with an emulated GitHub: an id that is not a team of the organisation is reported,
// with the cure.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { tenant } from '../../src/api/tenancy/tenant.ts'
import { findCondition } from '../../src/kube/object/conditions.ts'
import { limits } from '../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { type DeskEnvironment, startDeskEnvironment, type TenantFixture, withTenant } from '../fixtures/token-desk-fixture.ts'

let fixture: DeskEnvironment
beforeAll(async () => {
  fixture = await startDeskEnvironment()
})
afterAll(() => fixture?.stop())

const developers = { role: 'developer', subject: { type: 'Team', id: 3001, name: 'developers' } }
const unknown = { role: 'admin', subject: { type: 'Team', id: 4711 } }

/** The message, once the condition about the roles as they are now has the reason. */
function rolesMessage(environment: TenantFixture, reason: string): Promise<string> {
  const readMessage = async (): Promise<string | undefined> => {
    const found = await environment.client.get(tenant, { name: environment.namespace })
    const condition = findCondition(found?.status?.conditions, 'RolesResolved')
    const isNow = condition?.reason === reason && condition.observedGeneration === found?.metadata.generation
    return isNow ? condition?.message : undefined
  }
  return waitUntil(`RolesResolved to be ${reason}`, readMessage, { timeoutMilliseconds: limits.rollout })
}

test('nothing is claimed before GitHub can be asked; an unknown team is reported; once fixed, the teams are found', async () => {
  const environment = await withTenant(fixture)
  await environment.applyTenant({ roles: [developers, unknown] })
  expect(await rolesMessage(environment, 'TeamsNotChecked')).toContain('no Installation that is ready')

  await environment.bind({ permissions: { metadata: 'read', members: 'read' } })
  expect(await rolesMessage(environment, 'UnknownTeam')).toMatch(/acme has no team with the id 4711, .*set subject\.id/)
  // The unknown team does not keep the Tenant from becoming ready.
  await waitUntil('the Tenant to be ready', async () => {
    const found = await environment.client.get(tenant, { name: environment.namespace })
    const now = (type: string) => findCondition(found?.status?.conditions, type)
    return now('Ready')?.status === 'True' && now('RolesResolved')?.reason === 'UnknownTeam'
  })

  await environment.applyTenant({ roles: [developers] })
  expect(await rolesMessage(environment, 'TeamsFound')).toContain('the team belongs to acme')
  // The single-use tokens of the checks are revoked.
  expect(await fixture.store.tokens.revoking()).toEqual([])
})

test('an App that may not read members is distinguished from an unknown team', async () => {
  const environment = await withTenant(fixture)
  await environment.applyTenant({ roles: [unknown] })
  // The namespace exists then.
  await rolesMessage(environment, 'TeamsNotChecked')
  await environment.bind()
  expect(await rolesMessage(environment, 'TeamsNotChecked')).toMatch(/no Installation|members: read/)
})
