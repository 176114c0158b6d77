// A tenant with much of everything, as its pages get it: names, hosts and messages as long as people make them.
import type { AppPipeline } from '../../src/api/apps/app-pipeline.ts'
import type { Application } from '../../src/api/apps/application.ts'
import type { Release } from '../../src/api/apps/release.ts'
import type { RemoteSync } from '../../src/api/apps/remote-sync.ts'
import type { Installation } from '../../src/api/github/installation.ts'
import type { Tenant } from '../../src/api/tenancy/tenant.ts'
import type { BuildList } from '../../src/broker/builds/visible-builds.ts'
import { noAccess, type TenantAccess } from '../../src/broker/tenants/access.ts'
import type { ApplicationView, TenantView } from '../../src/broker/tenants/visible-tenants.ts'
import type { BuildRecord } from '../../src/store/builds/build-record.ts'

const namespace = 'acme'
const createdAt = new Date('2026-01-01T00:00:00Z')
const now = new Date('2026-01-01T00:10:00Z')
const commit = 'c'.repeat(40)
const access = Object.fromEntries(Object.keys(noAccess).map(name => [name, true])) as TenantAccess
const repository = { id: 1, name: 'acme-engineering/shop-backend', requested: 'acme-engineering/shop-backend' }
const list = <T>(items: readonly T[]) => ({ items, more: false })

function conditions(reason: string, message: string, ready: boolean) {
  const about = { observedGeneration: 1, lastTransitionTime: createdAt.toISOString() }
  return [{ type: 'Ready', status: ready ? 'True' : 'False', reason, message, ...about }]
}

function application(name: string, reason = 'Available', message = 'it runs'): Application {
  return {
    metadata: { name, namespace },
    spec: { chart: 'web', image: `registry.example.com/acme/shop@sha256:${'d'.repeat(64)}`, commit },
    status: {
      url: `https://${name}.acme.apps.example.com`,
      release: 12,
      commit,
      conditions: conditions(reason, message, reason === 'Available'),
    },
  } as unknown as Application
}

function remoteSync(name: string, reason: string): RemoteSync {
  return {
    metadata: { name, namespace },
    spec: { repository: repository.name, source: { branch: 'feature/a-rather-long-branch' }, application: name },
    status: {
      ...{ commit, imageCommit: commit, repository, build: { name: `${name}-1` } },
      conditions: conditions(reason, 'why it is so, in a sentence of some length that goes on', reason === 'Deployed'),
    },
  } as unknown as RemoteSync
}

function pipeline(name: string, states: readonly string[]): AppPipeline {
  const previews = states.map((state, index) => ({
    ...{
      number: index + 1,
      headCommit: commit,
      state,
      reason: 'Because',
      message: 'm'.repeat(300),
      since: createdAt.toISOString(),
    },
    ...(state === 'Running'
      ? { url: `https://${name}-pr-${index + 1}.acme.apps.example.com`, application: `${name}-pr-${index + 1}` }
      : {}),
  }))
  return {
    metadata: { name, namespace },
    spec: { repository: repository.name },
    status: { repository, previews },
  } as unknown as AppPipeline
}

function build(name: string, ended: BuildRecord['ended']): BuildRecord {
  return {
    ...{ id: name, namespace, buildNamespace: 'acme-build', name, remoteSync: { name: 'application-10', uid: 'u' }, commit },
    ...{ attempt: 1, createdAt, bytes: 400, leftOut: 0, steps: [{ name: 'build', state: 'Running' }] },
    ...(ended === undefined ? {} : { ended }),
  }
}

export type CrowdedTenant = {
  readonly person: {
    readonly host: string
    readonly userId: number
    readonly login: string
    readonly subject: string
    readonly csrf: string
  }
  readonly view: TenantView
  readonly applicationView: ApplicationView
  readonly build: BuildRecord
  readonly list: BuildList
  readonly now: Date
}

export function crowdedTenant(): CrowdedTenant {
  const failed = build('application-10-0325bb394c0a', { at: now, outcome: 'Failed', cause: 'w'.repeat(400) })
  const builds = [
    failed,
    build('application-11-ded99677dc5f', { at: now, outcome: 'Succeeded' }),
    build('application-12-9f0c1e2d3b4a', undefined),
  ]
  const queued = [{ remoteSync: 'application-13', commit, message: '2nd of 12 builds of this tenant that wait' }]
  const names = Array.from({ length: 33 }, (_, index) => `application-${index + 1}`)
  const crashing = application('application-34', 'Crashing', 'w'.repeat(400))
  const release = (number: number): Release =>
    ({
      metadata: { name: `application-34-v${number}`, creationTimestamp: createdAt.toISOString() },
      spec: {
        ...{ number, image: crashing.spec.image, reason: 'SecretChanged', application: {} },
        by: { kind: 'FieldManager', name: 'unknown (sekisho-cli)' },
      },
      status: { conditions: conditions('Unhealthy', 'w'.repeat(400), false) },
    }) as unknown as Release
  const spec = { account: { host: 'github.com', id: 7, login: 'acme-engineering', type: 'Organization' }, namespace, roles: [] }
  const role = { role: 'developer', subject: { type: 'Team', id: 1, name: 'platform-engineering' } }
  const gone = { type: 'GitHubAccess', status: 'False', reason: 'InstallationNotReady', message: 'm'.repeat(300) }
  const tenant = {
    metadata: { name: namespace, creationTimestamp: createdAt.toISOString() },
    spec: { ...spec, roles: [role] },
    status: { conditions: [...conditions('NamespacesReady', 'namespaces acme and acme-build are ready', true), gone] },
  } as unknown as Tenant
  const standIns = ['noah-of-platform-engineering', 'mia'].map((login, index) => ({
    ...{ id: 1002 + index, login, proof: { method: 'OrganizationOwner', provedAt: createdAt.toISOString() } },
  }))
  const installation = {
    metadata: { name: 'github', namespace, uid: 'u-github' },
    spec: {
      ...{ app: 'main', installationId: 77, account: spec.account, standIns },
      boundBy: { id: 1004, login: 'gary-who-leaves-soon' },
      ceiling: { repositories: 'All', permissions: { contents: 'write', pull_requests: 'write', deployments: 'write' } },
    },
    status: { conditions: conditions('InstallationNotFound', 'the App is not installed on the account any more', false) },
  } as unknown as Installation
  return {
    person: { host: 'github.com', userId: 1, login: 'olivia', subject: 'github|github.com|1', csrf: 'secret' },
    view: {
      ...{ tenant, role: 'admin', access },
      installations: [installation],
      applications: list([...names.map(name => application(name)), crashing]),
      remoteSyncs: list(
        names
          .map((name, index) => remoteSync(name, index % 7 === 0 ? 'BuildFailed' : 'Deployed'))
          .concat(remoteSync('application-34', 'Queued')),
      ),
      pipelines: list([
        pipeline('shop', ['WaitingForApproval', 'Failed', ...Array.from({ length: 12 }, () => 'Running')]),
        pipeline(
          'quiet',
          Array.from({ length: 12 }, () => 'Running'),
        ),
      ]),
      builds: { builds, queued },
    },
    applicationView: { application: crashing, access, releases: list([release(12), release(11)]) },
    build: failed,
    list: { builds, queued },
    now,
  }
}
