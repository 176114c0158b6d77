// An owner confirms what the broker proved: Tenant, Installation and audit record are created. Once for a new account, once for
// an account that was onboarded before, with one more team and a binding that has to be replaced. The scenario creates the
// namespace itself, in place of the Tenant controller.

import { nextId } from '../../../dev/github/state/github-state.ts'
import { namespaces } from '../../../src/api/builtin/index.ts'
import { installation } from '../../../src/api/github/installation.ts'
import { labels } from '../../../src/api/names.ts'
import { tenant } from '../../../src/api/tenancy/tenant.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { people } from '../environment/account.ts'
import { type Environment, host } from '../environment/environment.ts'
import type { Scenario } from '../scenario.ts'
import { applyInstallation } from './bindings.ts'
import { type Fields, formSecret, signIn, submit } from './signed-in.ts'
import { patience } from './waits.ts'

/** Proceeds to the page on which the owner confirms. */
async function prove(environment: Environment): Promise<void> {
  const cookie = await signIn(environment)
  const fields = { csrf: await formSecret(environment, cookie), installation_id: String(environment.account.installed.id) }
  const answer = await submit(environment, '/onboard/installed', cookie, fields)
  if (answer.status !== 303) throw new Error(`the proof failed: ${answer.status} ${await answer.text()}`)
}

/** Repeated until the broker answers 303, or 404: an earlier attempt was stored, so no onboarding waits for confirmation. */
async function confirm(environment: Environment, chosen: Fields = {}): Promise<void> {
  const cookie = await signIn(environment)
  const onboarding = await environment.fixture.query(environment.prefix, 'SELECT id FROM broker.onboardings')
  const fields = { csrf: await formSecret(environment, cookie), onboarding, ...chosen }
  await waitUntil(
    'the owner has confirmed',
    async () => {
      const { status } = await submit(environment, '/onboard/confirm', cookie, fields)
      if (status === 303 || status === 404) return true
      throw new Error(`the broker answered ${status}`)
    },
    patience,
  )
}

/** Does what the Tenant controller does when the Tenant exists. */
async function makeNamespace(environment: Environment): Promise<void> {
  await waitUntil(
    'the Tenant exists',
    async () => ((await environment.fixture.kube.get(tenant, { name: environment.prefix })) ? true : undefined),
    patience,
  )
  await environment.apply(namespaces, environment.prefix, {
    metadata: { name: environment.prefix, labels: { [labels.tenant]: environment.prefix } },
  })
  await environment.giveRights()
}

/** Unfinished, finished and all onboardings, counted in the database. */
function countOnboardings(environment: Environment): Promise<string> {
  return environment.fixture.query(
    environment.prefix,
    "SELECT count(*) FILTER (WHERE state NOT IN ('finished', 'abandoned')), count(*) FILTER (WHERE state = 'finished'), count(*) FROM broker.onboardings",
  )
}

async function finished(environment: Environment): Promise<void> {
  await waitUntil(
    'the onboarding is finished',
    async () => (await countOnboardings(environment)).startsWith('0|') || undefined,
    patience,
  )
}

const shared = {
  controllers: ['broker-onboarding'],
  environment: { component: 'broker', namespace: 'tenant', github: 'repository' },
  compares: [tenant, installation],
  async more(environment: Environment) {
    const recorded = await environment.store.audit.list({ action: 'tenant.onboarded', limit: 100 })
    return { onboardings: await countOnboardings(environment), recorded: recorded.length }
  },
} as const

export const onboardingScenario: Scenario = {
  ...shared,
  name: 'onboarding: a new account',
  prepare: prove,
  async act(environment) {
    await confirm(environment)
    await makeNamespace(environment)
    await finished(environment)
  },
}

function makeTeam({ fixture, account }: Environment): number {
  return fixture.github.context.store.change(state => {
    const id = nextId(state)
    state.teams.push({
      id,
      organizationId: account.organization.id,
      slug: 'developers',
      name: 'developers',
      description: null,
      privacy: 'closed',
      parentId: null,
      members: [{ userId: people.dave, role: 'member' }],
      repositories: [],
      createdAt: '2026-01-01T00:00:00Z',
    })
    return id
  })
}

export const onboardingAgain: Scenario = {
  ...shared,
  name: 'onboarding: an account that was onboarded before',
  async prepare(environment) {
    const { id, login } = environment.account.organization
    const account = { host, id, login, type: 'Organization' }
    const roles = [{ role: 'admin', subject: { type: 'Owners' } }]
    await environment.apply(tenant, environment.prefix, { spec: { account, namespace: environment.namespace, roles } })
    await makeNamespace(environment)
    // With another ceiling than GitHub reports now.
    await applyInstallation(environment)
    await prove(environment)
  },
  async act(environment) {
    await confirm(environment, { team: String(makeTeam(environment)) })
    await finished(environment)
  },
}
