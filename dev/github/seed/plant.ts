// Turns a seed into the first state, its repositories on disk and the secret files for the tooling. A state folder that already
// has a state is never seeded again.
import { createPublicKey } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { GitStore } from '../git/store.ts'
import type { Author } from '../git/write.ts'
import type { User } from '../state/accounts.ts'
import { days, timestamp } from '../state/clock.ts'
import { accountByLogin, emptyState, type GitHubState, organizationByLogin, repositoryByName } from '../state/github-state.ts'
import { newRepository } from '../state/repositories.ts'
import { credentialKey, newPersonalToken, randomText } from '../tokens/formats.ts'
import type { Seed } from './seed.ts'
import type { Stock } from './stock.ts'

/** The files with what only the owner of an App or a user knows; mode 0600. */
export function secretFiles(stateFolder: string) {
  return {
    appKey: (slug: string) => join(stateFolder, 'secrets', `${slug}.private-key.pem`),
    app: (slug: string) => join(stateFolder, 'secrets', `${slug}.json`),
    personalTokens: join(stateFolder, 'secrets', 'personal-access-tokens.json'),
    control: join(stateFolder, 'secrets', 'control-token'),
    tokenSigningKey: join(stateFolder, 'secrets', 'token-signing-key.pem'),
  }
}

function required<Value>(value: Value | undefined, what: string): Value {
  if (value === undefined) throw new Error(`the seed refers to ${what}, which it does not define`)
  return value
}

function plantAccounts(state: GitHubState, seed: Seed, at: string): void {
  const person = (id: number, login: string, name: string, type: User['type']): User => ({
    kind: 'user',
    id,
    login,
    name,
    email: `${login.replace(/[[\]]/g, '')}@example.test`,
    type,
    createdAt: at,
  })
  state.users = [
    ...seed.users.map(one => person(one.id, one.login, one.name, 'User')),
    ...seed.apps.map(one => person(one.botId, `${one.slug}[bot]`, one.name, 'Bot')),
  ]
  const idOf = (login: string): number => required(state.users.find(one => one.login === login)?.id, `the person ${login}`)
  state.organizations = seed.organizations.map(one => ({
    kind: 'organization',
    id: one.id,
    login: one.login,
    name: one.name,
    basePermission: one.basePermission,
    memberships: [
      ...one.owners.map(login => ({ userId: idOf(login), role: 'admin' as const, state: 'active' as const })),
      ...one.members.map(login => ({
        userId: idOf(login),
        role: 'member' as const,
        state: 'active' as const,
      })),
    ],
    createdAt: at,
  }))
}

function plantRepositories(state: GitHubState, seed: Seed, at: string): void {
  state.repositories = seed.repositories.map(one => {
    const { id, name, description } = one
    const ownerId = required(accountByLogin(state, one.owner)?.id, `the account ${one.owner}`)
    const collaborators = Object.entries(one.collaborators ?? {}).map(([login, role]) => ({
      userId: required(accountByLogin(state, login)?.id, `the person ${login}`),
      role,
    }))
    return newRepository({ id, ownerId, name, description, private: one.private, createdAt: at }, { collaborators })
  })
}

function plantTeams(state: GitHubState, seed: Seed, at: string): void {
  state.teams = seed.teams.map(one => ({
    id: one.id,
    organizationId: required(organizationByLogin(state, one.organization)?.id, `the organization ${one.organization}`),
    slug: one.slug,
    name: one.name,
    description: null,
    privacy: 'closed',
    parentId:
      one.parent === undefined
        ? null
        : required(
            seed.teams.find(team => team.organization === one.organization && team.slug === one.parent)?.id,
            `the team ${one.parent}`,
          ),
    members: one.members.map(login => ({
      userId: required(accountByLogin(state, login)?.id, `the person ${login}`),
      role: 'member',
    })),
    repositories: Object.entries(one.repositories).map(([name, role]) => ({
      repositoryId: required(repositoryByName(state, one.organization, name)?.id, `the repository ${one.organization}/${name}`),
      role,
    })),
    createdAt: at,
  }))
}

async function plantApps(state: GitHubState, seed: Seed, at: string, { stateFolder, stock }: Ground): Promise<void> {
  for (const one of seed.apps) {
    const privateKey = await stock.privateKey(one.slug)
    const { id, botId, slug, name, description, requestOAuthOnInstall, permissions, events } = one
    const secrets = { clientId: `Iv23li${randomText(14)}`, clientSecret: randomText(40), webhookSecret: randomText(40) }
    state.apps.push({
      ...{ id, botId, slug, name, description, requestOAuthOnInstall, permissions, events, ...secrets },
      ownerId: required(accountByLogin(state, one.owner)?.id, `the account ${one.owner}`),
      publicKeys: [createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }).toString()],
      webhookUrl: null,
      callbackUrls: [],
      setupUrl: null,
      setupOnUpdate: false,
      createdAt: at,
      updatedAt: at,
    })
    const files = secretFiles(stateFolder)
    await writeFile(files.appKey(slug), privateKey, { mode: 0o600 })
    await writeFile(files.app(slug), `${JSON.stringify({ id, slug, ...secrets }, null, 2)}\n`, { mode: 0o600 })
  }
}

async function plantPersonalTokens(state: GitHubState, now: number, stateFolder: string): Promise<void> {
  const tokens: Record<string, string> = {}
  for (const user of state.users.filter(one => one.type === 'User')) {
    const token = newPersonalToken()
    tokens[user.login] = token
    state.credentials.accessTokens[credentialKey(token)] = {
      kind: 'personal',
      userId: user.id,
      createdAt: now,
      expiresAt: now + days(366),
    }
  }
  await writeFile(secretFiles(stateFolder).personalTokens, `${JSON.stringify(tokens, null, 2)}\n`, { mode: 0o600 })
}

export type Ground = { readonly git: GitStore; readonly stateFolder: string; readonly stock: Stock }

/** The first of an organization's owners, or the user that it belongs to. */
function authorOf(seed: Seed, owner: string): Author {
  const name = seed.organizations.find(({ login }) => login === owner)?.owners[0] ?? owner
  return { name, email: `${name}@example.test` }
}

/** Makes the state of a seed, its git repositories, and its secret files below the state folder. `now` is milliseconds. */
export async function plant(seed: Seed, now: number, ground: Ground): Promise<GitHubState> {
  const { git, stateFolder, stock } = ground
  const state = emptyState()
  const at = timestamp(now)
  await mkdir(join(stateFolder, 'secrets'), { recursive: true, mode: 0o700 })
  plantAccounts(state, seed, at)
  plantRepositories(state, seed, at)
  plantTeams(state, seed, at)
  await plantApps(state, seed, at, ground)
  await plantPersonalTokens(state, now, stateFolder)
  for (const one of seed.repositories) {
    const commit = { branch: 'main', files: one.files, message: 'First commit\n', author: authorOf(seed, one.owner), at: now }
    await stock.repository(git, one.id, commit)
  }
  return state
}
