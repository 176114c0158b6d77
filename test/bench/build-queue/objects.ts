// The objects of the bench: tenants that follow one repository, each with what a build needs, and the parts of other
// controllers, whose results are written here: grants are approved, and Builds end when the bench says so.
import type { AdminClient } from '../../../dev/cluster/control-plane/admin-client.ts'
import { application } from '../../../src/api/apps/application.ts'
import { remoteSync } from '../../../src/api/apps/remote-sync.ts'
import { installation } from '../../../src/api/github/installation.ts'
import { repositoryGrant } from '../../../src/api/github/repository-grant.ts'
import type { KubeObject, ResourceType } from '../../../src/api/resource.ts'
import { tenant } from '../../../src/api/tenancy/tenant.ts'
import { limits } from '../../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import {
  type ClusterBuilder,
  clusterBuilders,
  type KpackBuild,
  kpackBuilds,
} from '../../../src/services/builds/kpack/resources.ts'
import { kpackDefinitions } from '../../fixtures/kpack-definitions.ts'
import { writeStatus } from '../../fixtures/write-status.ts'

export const commit = '0123456789abcdef0123456789abcdef01234567'
export const repository = { id: 7, fullName: 'acme/shop' }

const patience = { timeoutMilliseconds: limits.rollout, everyMilliseconds: 20 }
const account = { host: 'github.localhost', id: 1, login: 'acme', type: 'Organization' }

function pathOf(type: ResourceType, namespace?: string, name?: string): string {
  const group = type.apiVersion.includes('/') ? `/apis/${type.apiVersion}` : `/api/${type.apiVersion}`
  return [
    group,
    ...(namespace === undefined ? [] : ['namespaces', namespace]),
    type.plural,
    ...(name === undefined ? [] : [name]),
  ].join('/')
}

function ready(generation: number): object {
  const lastTransitionTime = new Date().toISOString()
  return { type: 'Ready', status: 'True', reason: 'Bench', message: '', observedGeneration: generation, lastTransitionTime }
}

async function create(admin: AdminClient, type: ResourceType, namespace: string | undefined, object: object): Promise<void> {
  await admin.call('POST', pathOf(type, namespace), { apiVersion: type.apiVersion, kind: type.kind, ...object })
}

async function list<T extends KubeObject>(admin: AdminClient, type: ResourceType<T>): Promise<readonly T[]> {
  return ((await admin.call('GET', pathOf(type))) as { readonly items: readonly T[] }).items
}

/** kpack's kinds, with a builder that is ready. */
export async function installKpack(admin: AdminClient): Promise<void> {
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  for (const definition of kpackDefinitions) await admin.call('POST', definitions, definition)
  const builder = { metadata: { name: 'sekisho' } }
  await waitUntil(
    'kpack to be served',
    async () => {
      await list(admin, kpackBuilds)
      await create(admin, clusterBuilders, undefined, builder)
      return true
    },
    patience,
  )
  const status: ClusterBuilder['status'] = { latestImage: 'registry.test/builder@sha256:1', stack: { id: 'base' } }
  await writeStatus(admin, clusterBuilders, { name: 'sekisho' }, status)
}

/** A tenant in a namespace that exists, with a verified Installation. */
export async function makeTenant(admin: AdminClient, namespace: string, concurrentBuilds: number): Promise<void> {
  const limits = { concurrentBuilds, tokensPerHour: 1000, applications: 500 }
  await create(admin, tenant, undefined, { metadata: { name: namespace }, spec: { account, namespace, roles: [], limits } })
  const status = { namespace, buildNamespace: namespace, observedGeneration: 1, conditions: [ready(1)] }
  await writeStatus(admin, tenant, { name: namespace }, status)
  const spec = {
    app: 'bench',
    installationId: 1,
    account,
    boundBy: { id: 1, login: 'ada' },
    proof: { method: 'OrganizationOwner', provedAt: new Date().toISOString() },
    ceiling: { repositories: 'All', permissions: { contents: 'read' } },
  }
  await create(admin, installation, namespace, { metadata: { name: 'github' }, spec })
  await writeStatus(admin, installation, { namespace, name: 'github' }, { observedGeneration: 1, conditions: [ready(1)] })
}

/** A RemoteSync with its Application, which no controller touches here. */
export async function follow(admin: AdminClient, namespace: string, name: string): Promise<void> {
  const spec = {
    installation: 'github',
    repository: repository.fullName,
    source: { branch: 'main' },
    build: {},
    application: name,
    requestedBy: 'github|github.localhost|1',
  }
  const processes = [{ name: 'web', port: 3000, replicas: 1 }]
  await create(admin, application, namespace, { metadata: { name }, spec: { processes } })
  await create(admin, remoteSync, namespace, { metadata: { name }, spec })
}

/** Approves every grant that waits; resolves to how many there were. */
export async function approveGrants(admin: AdminClient): Promise<number> {
  const waiting = (await list(admin, repositoryGrant)).filter(({ status }) => status === undefined)
  for (const { metadata } of waiting) {
    const { generation = 1, namespace = '', name } = metadata
    await writeStatus(
      admin,
      repositoryGrant,
      { namespace, name },
      {
        observedGeneration: generation,
        decision: 'Approved',
        repositories: [{ id: repository.id, name: repository.fullName }],
        conditions: [ready(generation)],
      },
    )
  }
  return waiting.length
}

/** Resolves when so many RemoteSyncs of a namespace wait in the queue; rejects with what they do instead. */
export async function areQueued(admin: AdminClient, namespace: string, count: number): Promise<true> {
  const own = (await list(admin, remoteSync)).filter(({ metadata }) => metadata.namespace === namespace)
  const ready = own.map(({ status }) => status?.conditions?.find(({ type }) => type === 'Ready'))
  const queued = ready.filter(condition => condition?.reason === 'Queued').length
  if (queued === count) return true
  const other = ready.find(condition => condition?.reason !== 'Queued')
  throw new Error(`${queued} are queued; another is ${other?.reason ?? 'new'}: ${other?.message ?? ''}`)
}

export async function builds(admin: AdminClient): Promise<readonly KpackBuild[]> {
  return list(admin, kpackBuilds)
}

export function isRunning({ status }: KpackBuild): boolean {
  return status?.conditions === undefined
}

/** As kpack does when the image was pushed. */
export async function endBuild(admin: AdminClient, { metadata }: KpackBuild): Promise<void> {
  await writeStatus(admin, kpackBuilds, metadata, {
    latestImage: `registry.test/shop@sha256:${'1'.repeat(64)}`,
    conditions: [{ type: 'Succeeded', status: 'True' }],
  })
}
