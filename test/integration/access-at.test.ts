// Who could at a time, from the log alone, is what was so in the cluster at that time: a random history of grants, policies,
// halts, roles and the installation on the real API server, with the desk's own answer after each step, and afterwards
// `sekisho access repository --at` for each of those times, by the real command over HTTP.
import fc from 'fast-check'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type GrantPolicy, grantPolicy } from '../../src/api/github/grant-policy.ts'
import { type Halt, halt } from '../../src/api/github/halt.ts'
import { repositoryGrant } from '../../src/api/github/repository-grant.ts'
import { tenant } from '../../src/api/tenancy/tenant.ts'
import { createAuditServer } from '../../src/broker/routes/api/audit/testing/audit-server.ts'
import { accessRepository } from '../../src/cli/commands/access/access.ts'
import type { CommandContext } from '../../src/cli/commands/context.ts'
import { createConnection } from '../../src/cli/connection.ts'
import { createPlatformApi } from '../../src/cli/platform-api.ts'
import { systemClock as clock } from '../../src/lib/clock.ts'
import { timeLimit } from '../../src/lib/waiting/limits.ts'
import { listen } from '../../src/web/server.ts'
import { gone, readyReason } from '../fixtures/application-fixture.ts'
import { quiet } from '../fixtures/quiet.ts'
import { type DeskEnvironment, startDeskEnvironment, type TenantFixture, withTenant } from '../fixtures/token-desk-fixture.ts'

const [runs, fewest, most] = [2, 4, 6]
const host = 'github.localhost'
const olivia = `github|${host}|1001`
const fieldManager = 'test'
const repositories = { 'acme/shop': 4001, 'acme/secret-plans': 4002 } as const
const repositoryIds = Object.values(repositories)

let environment: DeskEnvironment
beforeAll(async () => {
  environment = await startDeskEnvironment()
})
afterAll(() => environment?.stop())

/** The first two are approved; noah has no access on GitHub, and dave none to the second repository. */
const requests = [
  ['dave', ['acme/shop']],
  ['olivia', Object.keys(repositories)],
  ['noah', ['acme/shop']],
  ['dave', ['acme/secret-plans']],
] as const

type World = TenantFixture & { readonly standing: Set<string> }
type Act = (world: World, choice: number) => Promise<unknown>

/** One thing of each kind at a time: again it is taken back. */
const acts = {
  async grant(world, choice) {
    const name = `grant-${choice % 2}`
    const key = { namespace: world.namespace, name }
    if (world.standing.delete(name)) {
      await world.client.delete(repositoryGrant, key)
      return gone(world.client, repositoryGrant, key)
    }
    world.standing.add(name)
    const [by, asked] = requests[choice % requests.length] ?? requests[0]
    return world.requestGrant(name, by, { repositories: asked })
  },
  async policy({ client, namespace, standing }, choice) {
    if (standing.delete('policy')) return client.delete(grantPolicy, { namespace, name: 'rules' })
    standing.add('policy')
    const name = choice % 2 === 0 ? 'acme/shop' : 'acme/*'
    const rules = [{ name: 'none', effect: 'Deny', repositories: [name], permissions: { contents: 'read' } }]
    const { apiVersion, kind } = grantPolicy
    const object = { apiVersion, kind, metadata: { name: 'rules', namespace }, spec: { rules } } as unknown as GrantPolicy
    await client.apply(grantPolicy, object, { fieldManager, force: true })
    return readyReason(client, grantPolicy, { namespace, name: 'rules' }, 'Enforced')
  },
  async halt({ client, namespace, standing }, choice) {
    const key = { namespace, name: 'stop' }
    if (standing.delete('halt')) {
      await client.mergePatch(halt, key, { spec: { lifted: { by: olivia, reason: 'found and mended' } } }, { fieldManager })
      return gone(client, halt, key)
    }
    standing.add('halt')
    const targets: readonly Halt['spec']['target'][] = [
      { type: 'Grant', grant: { namespace, name: 'grant-0' } },
      { type: 'Repository', repository: { host, id: repositories['acme/secret-plans'] } },
      { type: 'Person', person: { host, id: 1002 } },
      { type: 'Tenant', tenant: { name: namespace } },
    ]
    const spec = { target: targets[choice % targets.length], reason: 'a test stops it', requestedBy: olivia } as Halt['spec']
    await client.create(halt, { apiVersion: halt.apiVersion, kind: halt.kind, metadata: key, spec }, { fieldManager })
    return readyReason(client, halt, key, 'Enforced')
  },
  installation: world => world.bind(world.standing.delete('away') ? {} : notReady(world)),
  /** Who has a role in the tenant changes nothing of what a grant gives. */
  roles: world => world.applyTenant({ roles: world.standing.delete('no roles') ? someRoles : noRoles(world) }),
} as const satisfies Readonly<Record<string, Act>>

const someRoles = [{ role: 'admin', subject: { type: 'Owners' } }]
function noRoles({ standing }: World): readonly object[] {
  standing.add('no roles')
  return []
}
function notReady({ standing }: World): { readonly ready: 'False' } {
  standing.add('away')
  return { ready: 'False' }
}

const step = fc.record({
  act: fc.constantFrom('grant', ...(Object.keys(acts) as (keyof typeof acts)[])),
  choice: fc.nat({ max: 11 }),
})

/** `repository: grant` for each token that the ServiceAccount would get now, by the desk. */
async function live({ client, namespace, desk }: World): Promise<readonly string[]> {
  const grants = await client.list(repositoryGrant, { namespace })
  const subject = { kind: 'ServiceAccount', namespace, name: 'runner', uid: 'runner-uid' }
  const asked = grants.flatMap(grant => repositoryIds.map(id => ({ grant, id })))
  const answers = await Promise.all(
    asked.map(async ({ grant, id }) => {
      const refusal = await desk.refusalNow({ grant, subject, actor: 'test' }, id)
      return refusal === undefined ? [`${id}: ${namespace}/${grant.metadata.name}`] : []
    }),
  )
  return answers.flat().toSorted()
}

/** The command line of a platform admin. Resolves to what `access repository --at` says, as `live` does. */
async function commandLine() {
  const server = await createAuditServer({ audit: environment.store.audit, clock })
  const issuer = `http://127.0.0.1:${await listen(server, { host: '127.0.0.1', port: 0 })}`
  const connection = createConnection({ issuer, caFile: undefined })
  onTestFinished(async () => {
    await connection.close()
    await server.close()
  })
  const api = createPlatformApi(issuer, 'a-token-of-the-platform-here', connection)
  return async (namespace: string, at: Date): Promise<readonly string[]> => {
    const could = await Promise.all(
      repositoryIds.map(async id => {
        let printed = ''
        const result = (text: string): void => {
          printed += text
        }
        const context = { clock, say: () => {}, terminal: { result }, api: async () => api } as unknown as CommandContext
        await accessRepository(context, { argument: String(id), namespace, at: at.toISOString(), output: 'json' })
        const answer = JSON.parse(printed) as { readonly could: readonly { readonly grant: string }[] }
        return answer.could.map(({ grant }) => `${id}: ${grant}`)
      }),
    )
    return could.flat().toSorted()
  }
}

async function openWorld(): Promise<World> {
  const fixture = await withTenant(environment)
  await fixture.applyTenant()
  await readyReason(fixture.client, tenant, { name: fixture.namespace }, 'NamespacesReady')
  await fixture.bind()
  const world = { ...fixture, standing: new Set<string>() }
  await acts.grant(world, 0)
  await readyReason(fixture.client, repositoryGrant, { namespace: fixture.namespace, name: 'grant-0' }, 'Approved')
  return world
}

test(
  'who could at a time is what the desk said at that time, whatever happened since',
  async () => {
    const couldAt = await commandLine()
    const seen = new Set<string>()
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: fewest, maxLength: most }), async steps => {
        const world = await openWorld()
        const moments: { readonly after: string; readonly at: Date; readonly live: readonly string[] }[] = []
        for (const { act, choice } of [undefined, ...steps].map(one => one ?? { act: undefined, choice: 0 })) {
          if (act !== undefined) await acts[act](world, choice)
          await quiet(world)
          moments.push({ after: `${act} ${choice}`, at: clock.now(), live: await live(world) })
        }
        for (const { after, at, live: wasSo } of moments) {
          seen.add(wasSo.length === 0 ? 'nobody' : 'somebody')
          expect({ after, could: await couldAt(world.namespace, at) }).toEqual({ after, could: wasSo })
        }
      }),
      { numRuns: runs, endOnFailure: true },
    )
    // Histories in which nothing ever changed would prove nothing.
    expect(seen).toContain('somebody')
  },
  timeLimit(40_000),
)
