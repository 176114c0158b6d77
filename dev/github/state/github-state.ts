// The whole state of the emulator as one plain, serializable value. It never does I/O and never knows HTTP.
import type { Account, Organization, Team, User } from './accounts.ts'
import type { App, Authorization, Installation, InstallationRequest } from './apps.ts'
import type { Credentials } from './credentials.ts'
import type {
  CommitStatus,
  Deployment,
  DeploymentEnvironment,
  DeploymentStatus,
  IssueComment,
  Label,
  PullRequest,
  Repository,
  RepositoryRedirect,
  Review,
} from './repositories.ts'

export type GitHubState = {
  readonly version: 2
  lastId: number
  users: User[]
  organizations: Organization[]
  teams: Team[]
  repositories: Repository[]
  repositoryRedirects: RepositoryRedirect[]
  pullRequests: PullRequest[]
  comments: IssueComment[]
  labels: Label[]
  reviews: Review[]
  statuses: CommitStatus[]
  deployments: Deployment[]
  deploymentStatuses: DeploymentStatus[]
  environments: DeploymentEnvironment[]
  apps: App[]
  installations: Installation[]
  installationRequests: InstallationRequest[]
  authorizations: Authorization[]
  credentials: Credentials
}

/** The empty state. Ids made at run time start above every id that a seed may use (100000). */
export function emptyState(): GitHubState {
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
    labels: [],
    reviews: [],
    statuses: [],
    deployments: [],
    deploymentStatuses: [],
    environments: [],
    apps: [],
    installations: [],
    installationRequests: [],
    authorizations: [],
    credentials: { accessTokens: {}, refreshTokens: {}, codes: {}, sessions: {} },
  }
}

/** The next unused id. All kinds share one sequence, so that an id of one kind is never by chance an id of another. */
export function nextId(state: GitHubState): number {
  state.lastId += 1
  return state.lastId
}

function sameName(left: string, right: string): boolean {
  return left.toLowerCase() === right.toLowerCase()
}

export function userById(state: GitHubState, id: number): User | undefined {
  return state.users.find(user => user.id === id)
}

export function userByLogin(state: GitHubState, login: string): User | undefined {
  return state.users.find(user => sameName(user.login, login))
}

export function organizationById(state: GitHubState, id: number): Organization | undefined {
  return state.organizations.find(one => one.id === id)
}

export function organizationByLogin(state: GitHubState, login: string): Organization | undefined {
  return state.organizations.find(one => sameName(one.login, login))
}

export function accountById(state: GitHubState, id: number): Account | undefined {
  return userById(state, id) ?? organizationById(state, id)
}

export function accountByLogin(state: GitHubState, login: string): Account | undefined {
  return userByLogin(state, login) ?? organizationByLogin(state, login)
}

export function repositoryById(state: GitHubState, id: number): Repository | undefined {
  return state.repositories.find(one => one.id === id)
}

/** Finds a repository by `owner/name`; both are case-insensitive, as on GitHub. */
export function repositoryByName(state: GitHubState, owner: string, name: string): Repository | undefined {
  const account = accountByLogin(state, owner)
  return account && state.repositories.find(one => one.ownerId === account.id && sameName(one.name, name))
}

/** The repository that once had this name; only for a name that no repository has now. */
export function repositoryByFormerName(state: GitHubState, owner: string, name: string): Repository | undefined {
  const found = state.repositoryRedirects.findLast(one => sameName(one.owner, owner) && sameName(one.name, name))
  return found && repositoryById(state, found.repositoryId)
}

export function repositoriesOf(state: GitHubState, ownerId: number): Repository[] {
  return state.repositories.filter(one => one.ownerId === ownerId)
}

export function appById(state: GitHubState, id: number): App | undefined {
  return state.apps.find(app => app.id === id)
}

export function appBySlug(state: GitHubState, slug: string): App | undefined {
  return state.apps.find(app => sameName(app.slug, slug))
}

export function appByClientId(state: GitHubState, clientId: string): App | undefined {
  return state.apps.find(app => app.clientId === clientId)
}

export function installationById(state: GitHubState, id: number): Installation | undefined {
  return state.installations.find(one => one.id === id)
}

export function installationOf(state: GitHubState, appId: number, accountId: number): Installation | undefined {
  return state.installations.find(one => one.appId === appId && one.accountId === accountId)
}

export function teamBySlug(state: GitHubState, organizationId: number, slug: string): Team | undefined {
  return state.teams.find(team => team.organizationId === organizationId && sameName(team.slug, slug))
}

export function pullRequestByNumber(state: GitHubState, repositoryId: number, number: number): PullRequest | undefined {
  return state.pullRequests.find(one => one.repositoryId === repositoryId && one.number === number)
}

/** The account to which another entity refers; a dangling reference is a defect of the emulator. */
export function accountOf(state: GitHubState, id: number): Account {
  const account = accountById(state, id)
  if (!account) throw new Error(`account ${id} does not exist but another entity refers to it`)
  return account
}

/** As {@link accountOf}, for a person or a bot. */
export function userOf(state: GitHubState, id: number): User {
  const user = userById(state, id)
  if (!user) throw new Error(`user ${id} does not exist but another entity refers to it`)
  return user
}

/** The present `owner/name`. */
export function fullName(state: GitHubState, repository: Repository): string {
  return `${accountOf(state, repository.ownerId).login}/${repository.name}`
}
