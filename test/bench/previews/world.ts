// The surroundings of the preview benches: a whole platform on a control plane of its own with PostgreSQL, a GitHub that
// enforces its limits, two tenants with repositories, and an actor for kpack and the kubelet. Everything is started and stopped
// here.
import { installApp } from '../../../dev/github/actions/install-app.ts'
import { defaultSeed } from '../../../dev/github/seed/default-seed.ts'
import type { Seed } from '../../../dev/github/seed/seed.ts'
import { groups, platformNamespace, userSubject } from '../../../src/api/names.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import type { Identity } from '../../attack/impersonation.ts'
import { openClosing } from '../../fixtures/open-closing.ts'
import { type SmallRegistry, startSmallRegistry } from '../../fixtures/small-registry.ts'
import { gitHubHost } from '../../platform/ground.ts'
import { appName } from '../../platform/process-plans.ts'
import type { ChaosProxy } from '../../proxies/chaos-proxy/chaos-proxy.ts'
import { openSoakPlatform, type SoakPlatform, type SoakPlatformOptions } from '../../soak/platform.ts'
import type { SoakProcess } from '../../soak/soak-process.ts'
import { accepted, untilReady } from '../../soak/tenant.ts'
import { type ClusterActor, installKpack, startClusterActor } from './cluster-actor.ts'
import { type GitHubRequests, recordGitHubRequests } from './github-requests.ts'
import { type OwnServices, openOwnServices, ownServices, usedServices } from './own-services.ts'

export type World = {
  readonly platform: SoakPlatform
  /** The one of the standalone form, and its way to the API server. */
  readonly process: SoakProcess
  readonly proxy: ChaosProxy
  readonly registry: SmallRegistry
  readonly actor: ClusterActor
  readonly requests: GitHubRequests
  /** Undefined unless previews have services of their own. */
  readonly services: OwnServices | undefined
  /** The tenant that has the repository of this index. */
  readonly tenantOf: (index: number) => TenantOfWorld
  readonly close: () => Promise<void>
}

export type TenantOfWorld = {
  /** And the login of the organisation. */
  readonly namespace: string
  readonly organization: number
  readonly developer: Identity
  /** Of the developer, on GitHub. */
  readonly login: string
}

const apps = '/apis/apps.sekisho.dev/v1alpha1/namespaces'
const github = '/apis/github.sekisho.dev/v1alpha1/namespaces'
export const pathOf = (namespace: string, plural: string): string => `${apps}/${namespace}/${plural}`

function person(id: number, organization: number, team: number): Identity {
  return {
    user: userSubject(gitHubHost, id),
    groups: [groups.team(gitHubHost, organization, team), groups.members(gitHubHost, organization), 'system:authenticated'],
  }
}

const teams = { acme: 3001, globex: 3002 } as const
export const acme: TenantOfWorld = {
  namespace: 'acme',
  organization: 2001,
  developer: person(1002, 2001, teams.acme),
  login: 'dave',
}
export const globex: TenantOfWorld = {
  ...{ namespace: 'globex', organization: 2002, developer: person(1004, 2002, teams.globex), login: 'gary' },
}
export const tenants = [acme, globex] as const

const firstRepository = 4101
export const repositoryName = (index: number): string => `app-${String(index).padStart(3, '0')}`
export const repositoryId = (index: number): number => firstRepository + index

/** So many repositories more, in which the developers of their tenants may write. */
function seedWith(repositories: number, tenantOf: World['tenantOf']): Seed {
  const names = Array.from({ length: repositories }, (_, index) => repositoryName(index))
  const rightsIn = (tenant: TenantOfWorld, existing: string) => {
    const theirs = names.filter((_, index) => tenantOf(index) === tenant)
    return Object.fromEntries([...theirs, existing].map(name => [name, 'write' as const]))
  }
  const made = names.map((name, index) => ({
    ...{ id: repositoryId(index), owner: tenantOf(index).namespace, name, private: true, description: name },
    files: { 'README.md': `# ${name}\n` },
  }))
  return {
    ...defaultSeed,
    teams: [
      ...defaultSeed.teams.map(team => ({ ...team, repositories: rightsIn(acme, 'shop') })),
      {
        ...{ id: teams.globex, organization: 'globex', slug: 'developers', name: 'Developers', members: ['gary'] },
        repositories: rightsIn(globex, 'site'),
      },
    ],
    repositories: [...defaultSeed.repositories, ...made],
  }
}

/** In the standalone form the broker writes with the platform's ServiceAccount. */
const broker: Identity = {
  user: `system:serviceaccount:${platformNamespace}:sekisho`,
  groups: ['system:serviceaccounts', `system:serviceaccounts:${platformNamespace}`, 'system:authenticated'],
}

const ceiling = {
  repositories: 'All',
  permissions: { contents: 'read', pull_requests: 'write', deployments: 'write', statuses: 'write' },
}

/** Room for the pods of 500 previews and a rollout of each. */
const resources = { pods: 1000, cpu: '100', memory: '256Gi', ephemeralStorage: '1Ti' }

/** What the broker makes when an owner onboards an account. */
async function onboard(platform: SoakPlatform, tenant: TenantOfWorld, owner: { readonly id: number; readonly login: string }) {
  const { people, github: emulator } = platform
  const { namespace, organization } = tenant
  const [app] = emulator.context.state.apps
  if (app === undefined) throw new Error('the emulator has no App')
  const installed = installApp(emulator.context, app, {
    ...{ accountId: organization, installerId: owner.id, repositorySelection: 'all', repositoryIds: [] },
  })
  const account = { host: gitHubHost, id: organization, login: namespace, type: 'Organization' }
  const team = { type: 'Team', id: namespace === 'acme' ? teams.acme : teams.globex, name: 'developers' }
  const spec = {
    ...{ account, namespace, roles: [{ role: 'developer', subject: team }] },
    limits: { applications: 1000, tokensPerHour: 5000, concurrentBuilds: 20, resources },
  }
  const tenants = '/apis/tenancy.sekisho.dev/v1alpha1/tenants'
  const made = { apiVersion: 'tenancy.sekisho.dev/v1alpha1', kind: 'Tenant', metadata: { name: namespace }, spec }
  accepted(await people.as(broker, 'POST', tenants, made), `Tenant ${namespace}`)
  await untilReady(platform, `${tenants}/${namespace}`)
  const installation = {
    apiVersion: 'github.sekisho.dev/v1alpha1',
    kind: 'Installation',
    metadata: { name: 'github', namespace },
    spec: {
      ...{ app: appName, installationId: installed.id, account, boundBy: owner, ceiling },
      proof: { method: 'OrganizationOwner', provedAt: new Date().toISOString() },
    },
  }
  const path = `${github}/${namespace}/installations`
  accepted(await people.as(broker, 'POST', path, installation), `Installation of ${namespace}`)
  await untilReady(platform, `${path}/github`)
}

export type WorldOptions = {
  readonly repositories: number
  /** Whether every second repository is of globex; otherwise all are of acme. */
  readonly isShared?: boolean
  /** Whether each preview has a database and a bucket of its own. */
  readonly withServices?: boolean
  /** Of the platform, by environment variables. */
  readonly settings?: Readonly<Record<string, string>>
  readonly rateLimit?: NonNullable<SoakPlatformOptions['github']>['rateLimit']
  readonly note: (message: string) => void
}

/** GitHub's own limits, as it documents them. */
const gitHubsLimits = { authenticated: 5000, anonymous: 60, enforced: true, secondary: {} } as const

/** Both tenants are onboarded, and nothing else is there. */
export async function openWorld({
  repositories,
  isShared = false,
  withServices = false,
  settings = {},
  rateLimit = gitHubsLimits,
  note,
}: WorldOptions): Promise<World> {
  const tenantOf = (index: number): TenantOfWorld => (isShared && index % 2 === 1 ? globex : acme)
  return openClosing(async onClose => {
    const registry = await startSmallRegistry()
    onClose(registry.close)
    const platform = await openSoakPlatform({
      form: 'standalone',
      cluster: { name: 'previews-cluster' },
      github: { seed: seedWith(repositories, tenantOf), rateLimit },
      prepare: installKpack,
      settings: { SEKISHO_REGISTRY: `${registry.host}/apps`, SEKISHO_PLATFORM_BUILDS: '40', ...settings },
    })
    onClose(platform.close)
    const [process] = platform.processes
    const [proxy] = platform.proxies
    if (process === undefined || proxy === undefined) throw new Error('the standalone form has one process')
    const requests = recordGitHubRequests(platform.github.url)
    onClose(async () => requests.close())
    const actor = await startClusterActor(platform.kubeconfig, registry)
    onClose(actor.close)
    await onboard(platform, acme, { id: 1001, login: 'olivia' })
    await onboard(platform, globex, { id: 1004, login: 'gary' })
    note('two tenants are onboarded')
    const services = withServices ? await openOwnServices(platform.kubeconfig) : undefined
    if (services !== undefined) onClose(services.close)
    return { platform, process, proxy, registry, actor, requests, services, tenantOf }
  })
}

/** Of a repository. */
export type Pipeline = { readonly namespace: string; readonly name: string }

/** An AppPipeline for the repository of this index, made by a developer; resolves when it is Ready. */
export async function followPullRequests(world: World, index: number, more: object = {}): Promise<Pipeline> {
  const name = repositoryName(index)
  const { namespace, developer } = world.tenantOf(index)
  const web = { processes: [{ name: 'web', port: 3000, replicas: 1 }] }
  const template =
    world.services === undefined
      ? { application: web, build: {} }
      : { application: { ...web, services: usedServices }, build: {}, services: ownServices }
  const spec = {
    ...{ installation: 'github', repository: `${namespace}/${name}`, template },
    ...{ limits: { previews: 100 }, ...more },
  }
  const path = pathOf(namespace, 'apppipelines')
  const made = { apiVersion: 'apps.sekisho.dev/v1alpha1', kind: 'AppPipeline', metadata: { name, namespace }, spec }
  accepted(await world.platform.people.as(developer, 'POST', path, made), `AppPipeline ${name}`)
  await untilReady(world.platform, `${path}/${name}`)
  return { namespace, name }
}

export function until<T>(
  world: World,
  what: string,
  check: () => Promise<T | undefined>,
  { signal, seconds = 120, everyMilliseconds = 10 }: { signal: AbortSignal; seconds?: number; everyMilliseconds?: number },
): Promise<T> {
  return waitUntil(what, check, {
    timeoutMilliseconds: seconds * 1000,
    everyMilliseconds,
    hopeless: async () => world.platform.ended() ?? (signal.aborted ? 'the time is over' : undefined),
  })
}

/**
 * Seconds since `since` (a time of `performance.now()`) when `check` first held; infinite when it did not within the time.
 * Rejects when the platform ended.
 */
export async function secondsUntil(
  world: World,
  since: number,
  check: () => Promise<boolean>,
  { signal, seconds, everyMilliseconds = 100 }: { signal: AbortSignal; seconds: number; everyMilliseconds?: number },
): Promise<number> {
  const end = performance.now() + seconds * 1000
  const result = async (): Promise<number | undefined> => {
    if (await check()) return (performance.now() - since) / 1000
    return performance.now() >= end ? Number.POSITIVE_INFINITY : undefined
  }
  return until(world, 'the end of an observation', result, { signal, seconds: seconds + 60, everyMilliseconds })
}
