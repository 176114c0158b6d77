// An owner confirms what the broker proved: Tenant, Installation and audit record are made. Once for a new account, once for one that was here
// before, with a team more and a binding that has to be replaced. The Tenant controller's part (the namespace) is played.

import { waitUntil } from '../../../dev/cluster/wait-until.ts'
import { issueTokens } from '../../../dev/github/actions/user-tokens.ts'
import { nextId } from '../../../dev/github/state/github-state.ts'
import { namespaces } from '../../../src/api/builtin/index.ts'
import { installation } from '../../../src/api/github/installation.ts'
import { labels } from '../../../src/api/names.ts'
import { tenant } from '../../../src/api/tenancy/tenant.ts'
import { SecretString } from '../../../src/lib/secret-string.ts'
import { people } from '../environment/account.ts'
import { host, type World } from '../environment/environment.ts'
import type { Scenario } from '../scenario.ts'
import { applyInstallation } from './bindings.ts'
import { patience } from './waits.ts'

const olivia = { host, userId: people.olivia, login: 'olivia' } as const

/** The cookie of a person who has signed in: what a sign-in leaves behind in the store. */
async function signIn(world: World): Promise<string> {
  const { accessToken, expiresIn } = issueTokens(world.site.github.context, world.account.app, people.olivia)
  const expiresAt = new Date(Date.now() + expiresIn * 1000)
  await world.store.users.save({
    ...olivia,
    accessToken: new SecretString(accessToken),
    accessTokenExpiresAt: expiresAt,
    groups: [],
  })
  const handle = await world.store.sessions.create({ ...olivia, expiresAt, data: {} })
  return `__Host-sekisho-session=${handle.reveal()}`
}

type Fields = Readonly<Record<string, string>>

function submit(world: World, path: string, cookie: string, fields: Fields): Promise<Response> {
  const headers = { cookie, accept: 'text/html' }
  const body = new URLSearchParams(fields)
  return fetch(`http://127.0.0.1:${world.ports.broker}${path}`, { method: 'POST', headers, body, redirect: 'manual' })
}

/** The secret that every form of the person's pages carries. */
async function formSecret(world: World, cookie: string): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${world.ports.broker}/onboard`, { headers: { cookie }, redirect: 'manual' })
  const secret = /name="csrf" value="([^"]+)"/.exec(await answer.text())?.[1]
  if (secret === undefined) throw new Error(`the page has no form: ${answer.status}`)
  return secret
}

/** Up to the page on which the owner confirms. */
async function prove(world: World): Promise<void> {
  const cookie = await signIn(world)
  const fields = { csrf: await formSecret(world, cookie), installation_id: String(world.account.installed.id) }
  const answer = await submit(world, '/onboard/installed', cookie, fields)
  if (answer.status !== 303) throw new Error(`nothing was proved: ${answer.status} ${await answer.text()}`)
}

/** Pressed again until the broker has it: what was confirmed is no longer there to confirm. */
async function confirm(world: World, chosen: Fields = {}): Promise<void> {
  const cookie = await signIn(world)
  const onboarding = await world.site.query(world.prefix, 'SELECT id FROM broker.onboardings')
  const fields = { csrf: await formSecret(world, cookie), onboarding, ...chosen }
  await waitUntil(
    'the owner has confirmed',
    async () => {
      const { status } = await submit(world, '/onboard/confirm', cookie, fields)
      if (status === 303 || status === 404) return true
      throw new Error(`the broker answered ${status}`)
    },
    patience,
  )
}

/** What the Tenant controller does once the Tenant is there. */
async function makeNamespace(world: World): Promise<void> {
  await waitUntil(
    'the Tenant is there',
    async () => ((await world.site.kube.get(tenant, { name: world.prefix })) ? true : undefined),
    patience,
  )
  await world.apply(namespaces, world.prefix, { metadata: { name: world.prefix, labels: { [labels.tenant]: world.prefix } } })
}

/** Unfinished, finished, others: by what the database says. */
function countOnboardings(world: World): Promise<string> {
  return world.site.query(
    world.prefix,
    "SELECT count(*) FILTER (WHERE state NOT IN ('finished', 'abandoned')), count(*) FILTER (WHERE state = 'finished'), count(*) FROM broker.onboardings",
  )
}

async function finished(world: World): Promise<void> {
  await waitUntil(
    'the onboarding is finished',
    async () => (await countOnboardings(world)).startsWith('0|') || undefined,
    patience,
  )
}

const shared = {
  controllers: ['broker-onboarding'],
  world: { part: 'broker', namespace: 'tenant', github: 'repository' },
  sees: [tenant, installation],
  async more(world: World) {
    const told = await world.store.audit.list({ action: 'tenant.onboarded', limit: 100 })
    return { onboardings: await countOnboardings(world), told: told.length }
  },
} as const

export const onboardingScenario: Scenario = {
  ...shared,
  name: 'onboarding: a new account',
  prepare: prove,
  async act(world) {
    await confirm(world)
    await makeNamespace(world)
    await finished(world)
  },
}

function makeTeam({ site, account }: World): number {
  return site.github.context.store.change(state => {
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
  name: 'onboarding: an account that was here before',
  async prepare(world) {
    const { id, login } = world.account.organization
    const account = { host, id, login, type: 'Organization' }
    const roles = [{ role: 'admin', subject: { type: 'Owners' } }]
    await world.apply(tenant, world.prefix, { spec: { account, namespace: world.namespace, roles } })
    await makeNamespace(world)
    // With another ceiling than GitHub says now.
    await applyInstallation(world)
    await prove(world)
  },
  async act(world) {
    await confirm(world, { team: String(makeTeam(world)) })
    await finished(world)
  },
}
