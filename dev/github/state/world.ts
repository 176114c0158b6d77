// The whole state of the emulator as one plain, serializable value. It never does I/O and never knows HTTP.
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

/** The empty state. Ids made at run time start above every id that a seed may use (100000). */
export function emptyWorld(): World {
  return {
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
  }
}

/** The next unused id. All kinds share one sequence, so that an id of one kind is never by chance an id of another. */
export function nextId(world: World): number {
  world.lastId += 1
  return world.lastId
}

function sameName(left: string, right: string): boolean {
  return left.toLowerCase() === right.toLowerCase()
}

export function userById(world: World, id: number): User | undefined {
  return world.users.find(user => user.id === id)
}

export function userByLogin(world: World, login: string): User | undefined {
  return world.users.find(user => sameName(user.login, login))
}

export function organizationById(world: World, id: number): Organization | undefined {
  return world.organizations.find(one => one.id === id)
}

export function organizationByLogin(world: World, login: string): Organization | undefined {
  return world.organizations.find(one => sameName(one.login, login))
}

export function accountById(world: World, id: number): Account | undefined {
  return userById(world, id) ?? organizationById(world, id)
}

export function accountByLogin(world: World, login: string): Account | undefined {
  return userByLogin(world, login) ?? organizationByLogin(world, login)
}

export function repositoryById(world: World, id: number): Repository | undefined {
  return world.repositories.find(one => one.id === id)
}

/** Finds a repository by `owner/name`; both are case-insensitive, as on GitHub. */
export function repositoryByName(world: World, owner: string, name: string): Repository | undefined {
  const account = accountByLogin(world, owner)
  return account && world.repositories.find(one => one.ownerId === account.id && sameName(one.name, name))
}

/** The repository that once had this name; only for a name that no repository has now. */
export function repositoryByFormerName(world: World, owner: string, name: string): Repository | undefined {
  const found = world.repositoryRedirects.findLast(one => sameName(one.owner, owner) && sameName(one.name, name))
  return found && repositoryById(world, found.repositoryId)
}

export function repositoriesOf(world: World, ownerId: number): Repository[] {
  return world.repositories.filter(one => one.ownerId === ownerId)
}

export function appById(world: World, id: number): App | undefined {
  return world.apps.find(app => app.id === id)
}

export function appBySlug(world: World, slug: string): App | undefined {
  return world.apps.find(app => sameName(app.slug, slug))
}

export function appByClientId(world: World, clientId: string): App | undefined {
  return world.apps.find(app => app.clientId === clientId)
}

export function installationById(world: World, id: number): Installation | undefined {
  return world.installations.find(one => one.id === id)
}

export function installationOf(world: World, appId: number, accountId: number): Installation | undefined {
  return world.installations.find(one => one.appId === appId && one.accountId === accountId)
}

export function teamBySlug(world: World, organizationId: number, slug: string): Team | undefined {
  return world.teams.find(team => team.organizationId === organizationId && sameName(team.slug, slug))
}

export function pullRequestByNumber(world: World, repositoryId: number, number: number): PullRequest | undefined {
  return world.pullRequests.find(one => one.repositoryId === repositoryId && one.number === number)
}

/** The account to which another entity refers; a dangling reference is a defect of the emulator. */
export function accountOf(world: World, id: number): Account {
  const account = accountById(world, id)
  if (!account) throw new Error(`account ${id} does not exist but another entity refers to it`)
  return account
}

/** As {@link accountOf}, for a person or a bot. */
export function userOf(world: World, id: number): User {
  const user = userById(world, id)
  if (!user) throw new Error(`user ${id} does not exist but another entity refers to it`)
  return user
}

/** The present `owner/name`. */
export function fullName(world: World, repository: Repository): string {
  return `${accountOf(world, repository.ownerId).login}/${repository.name}`
}
