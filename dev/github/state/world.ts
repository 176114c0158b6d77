// Owns: the whole state of the emulator as one plain, serializable value. Never does I/O; never knows HTTP.
import type { Account, Organization, Team, User } from './accounts.ts'
import type { App, Authorization, Installation, InstallationRequest } from './apps.ts'
import type { CheckRun, CheckSuite } from './checks.ts'
import type { Credentials } from './credentials.ts'
import type {
  CommitStatus,
  Deployment,
  DeploymentStatus,
  IssueComment,
  PullRequest,
  Repository,
  RepositoryRedirect,
} from './repositories.ts'

export type World = {
  readonly version: 2
  lastId: number
  users: User[]
  organizations: Organization[]
  teams: Team[]
  repositories: Repository[]
  repositoryRedirects: RepositoryRedirect[]
  pullRequests: PullRequest[]
  comments: IssueComment[]
  statuses: CommitStatus[]
  deployments: Deployment[]
  deploymentStatuses: DeploymentStatus[]
  checkSuites: CheckSuite[]
  checkRuns: CheckRun[]
  apps: App[]
  installations: Installation[]
  installationRequests: InstallationRequest[]
  authorizations: Authorization[]
  credentials: Credentials
}

/** A world with nobody in it. Ids made at run time start above every id that a seed may use (100000). */
export const emptyWorld = (): World => ({
  version: 2,
  lastId: 100_000,
  users: [],
  organizations: [],
  teams: [],
  repositories: [],
  repositoryRedirects: [],
  pullRequests: [],
  comments: [],
  statuses: [],
  deployments: [],
  deploymentStatuses: [],
  checkSuites: [],
  checkRuns: [],
  apps: [],
  installations: [],
  installationRequests: [],
  authorizations: [],
  credentials: { accessTokens: {}, refreshTokens: {}, codes: {}, sessions: {}, devices: {}, archiveTickets: {} },
})

/** The next unused id. Every entity draws from one sequence, so an id of one kind never is by chance an id of another. */
export const nextId = (world: World): number => {
  world.lastId += 1
  return world.lastId
}

const sameName = (left: string, right: string): boolean => left.toLowerCase() === right.toLowerCase()

export const userById = (world: World, id: number): User | undefined => world.users.find(user => user.id === id)
export const userByLogin = (world: World, login: string): User | undefined =>
  world.users.find(user => sameName(user.login, login))
export const organizationById = (world: World, id: number): Organization | undefined =>
  world.organizations.find(one => one.id === id)
export const organizationByLogin = (world: World, login: string): Organization | undefined =>
  world.organizations.find(one => sameName(one.login, login))
export const accountById = (world: World, id: number): Account | undefined => userById(world, id) ?? organizationById(world, id)
export const accountByLogin = (world: World, login: string): Account | undefined =>
  userByLogin(world, login) ?? organizationByLogin(world, login)
export const repositoryById = (world: World, id: number): Repository | undefined => world.repositories.find(one => one.id === id)

/** Looks a repository up by `owner/name`; both are case-insensitive, as on GitHub. */
export const repositoryByName = (world: World, owner: string, name: string): Repository | undefined => {
  const account = accountByLogin(world, owner)
  return account && world.repositories.find(one => one.ownerId === account.id && sameName(one.name, name))
}

/** The repository that once had this name; asked only when none has it now. */
export const repositoryByFormerName = (world: World, owner: string, name: string): Repository | undefined => {
  const found = world.repositoryRedirects.findLast(one => sameName(one.owner, owner) && sameName(one.name, name))
  return found && repositoryById(world, found.repositoryId)
}

export const repositoriesOf = (world: World, ownerId: number): Repository[] =>
  world.repositories.filter(one => one.ownerId === ownerId)
export const appById = (world: World, id: number): App | undefined => world.apps.find(app => app.id === id)
export const appBySlug = (world: World, slug: string): App | undefined => world.apps.find(app => sameName(app.slug, slug))
export const appByClientId = (world: World, clientId: string): App | undefined =>
  world.apps.find(app => app.clientId === clientId)
export const installationById = (world: World, id: number): Installation | undefined =>
  world.installations.find(one => one.id === id)
export const installationOf = (world: World, appId: number, accountId: number): Installation | undefined =>
  world.installations.find(one => one.appId === appId && one.accountId === accountId)
export const teamBySlug = (world: World, organizationId: number, slug: string): Team | undefined =>
  world.teams.find(team => team.organizationId === organizationId && sameName(team.slug, slug))
export const pullRequestByNumber = (world: World, repositoryId: number, number: number): PullRequest | undefined =>
  world.pullRequests.find(one => one.repositoryId === repositoryId && one.number === number)

/** The account that must exist because another entity refers to it; a dangling reference is a defect of the emulator. */
export const accountOf = (world: World, id: number): Account => {
  const account = accountById(world, id)
  if (!account) throw new Error(`account ${id} is referred to but does not exist`)
  return account
}

/** As {@link accountOf}, for a person or a bot. */
export const userOf = (world: World, id: number): User => {
  const user = userById(world, id)
  if (!user) throw new Error(`user ${id} is referred to but does not exist`)
  return user
}

/** `owner/name` as it is today. */
export const fullName = (world: World, repository: Repository): string =>
  `${accountOf(world, repository.ownerId).login}/${repository.name}`
