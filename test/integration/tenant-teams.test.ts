// The teams a Tenant names, asked of a real (emulated) GitHub: a number that is no team of the organisation is said, with the cure.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { tenant } from '../../src/api/tenancy/tenant.ts'
import { findCondition } from '../../src/kube/object/conditions.ts'
import { waitUntil } from '../fixtures/harness.ts'
import { type DeskEnvironment, startDeskEnvironment, type TenantFixture, withTenant } from '../fixtures/token-desk-fixture.ts'

let site: DeskEnvironment
beforeAll(async () => {
  site = await startDeskEnvironment()
})
afterAll(() => site?.stop())

const developers = { role: 'developer', subject: { type: 'Team', id: 3001, name: 'developers' } }
const unknown = { role: 'admin', subject: { type: 'Team', id: 4711 } }

/** The message, once the condition about the roles as they are now has the reason. */
function rolesMessage(world: TenantFixture, reason: string): Promise<string> {
  const look = async (): Promise<string | undefined> => {
    const found = await world.client.get(tenant, { name: world.namespace })
    const condition = findCondition(found?.status?.conditions, 'RolesResolved')
    const isNow = condition?.reason === reason && condition.observedGeneration === found?.metadata.generation
    return isNow ? condition?.message : undefined
  }
  return waitUntil(`RolesResolved to be ${reason}`, look, { timeoutMilliseconds: 20_000 })
}

test('nothing is claimed before GitHub can be asked; a team that is none is named; mended, it is found', async () => {
  const world = await withTenant(site)
  await world.applyTenant({ roles: [developers, unknown] })
  expect(await rolesMessage(world, 'TeamsNotChecked')).toContain('no Installation that is ready')

  await world.bind({ permissions: { metadata: 'read', members: 'read' } })
  expect(await rolesMessage(world, 'UnknownTeam')).toMatch(/acme has no team with the id 4711, .*set subject\.id/)
  const found = await world.client.get(tenant, { name: world.namespace })
  expect(findCondition(found?.status?.conditions, 'Ready')?.status).toBe('True')

  await world.applyTenant({ roles: [developers] })
  expect(await rolesMessage(world, 'TeamsFound')).toContain('the team belongs to acme')
  // The tokens for the questions are gone.
  expect(await site.store.tokens.revoking()).toEqual([])
})

test('an App that may not read members is told apart from a team that is not there', async () => {
  const world = await withTenant(site)
  await world.applyTenant({ roles: [unknown] })
  await world.bind()
  expect(await rolesMessage(world, 'TeamsNotChecked')).toMatch(/no Installation|members: read/)
})
