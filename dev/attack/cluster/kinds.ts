// Writes of the platform's own kinds by those who may not: Installations, decisions, status, tenants, charts, and what a viewer
// may only read.
import { neighbourNamespace, tenantNamespace } from '../../demo/context.ts'
import type { Attack } from '../attack.ts'
import type { Actor } from '../world/actors.ts'
import { platformNamespace } from '../world/targets.ts'
import { type ApiAttempt, apiAttempts, corePath, groupPath, jsonPatch, mergePatch } from './api-attempts.ts'

/** Would let the code of a fork run. */
const previewApproval = {
  apiVersion: 'apps.sekisho.dev/v1alpha1',
  kind: 'PreviewApproval',
  metadata: { name: `shop-pr-1-${'a'.repeat(12)}` },
  spec: {
    pipeline: { name: 'shop', uid: 'x' },
    repository: 4001,
    number: 1,
    headCommit: 'a'.repeat(40),
    by: { id: 1001, login: 'olivia' },
    via: 'Comment',
  },
}

/** The kinds of the platform that tenants may only read, or not at all. */
function platformKinds(as: Actor, namespace: string): readonly ApiAttempt[] {
  const github = 'github.sekisho.dev/v1alpha1'
  const apps = 'apps.sekisho.dev/v1alpha1'
  const installation = `${groupPath(github, namespace, 'installations')}/github`
  const patch = (path: string, json: unknown, contentType = mergePatch): ApiAttempt => ({
    as,
    method: 'PATCH',
    path,
    json,
    contentType,
    dry: true,
  })
  return [
    patch(installation, { spec: { installationId: 1 } }),
    patch(installation, { metadata: { labels: { x: 'y' } } }),
    patch(installation, [{ op: 'remove', path: '/metadata/finalizers' }], jsonPatch),
    patch(`${installation}/status`, { status: { conditions: [] } }),
    { as, method: 'DELETE', path: installation, dry: true },
    {
      as,
      method: 'POST',
      path: groupPath(github, namespace, 'installations'),
      json: { apiVersion: github, kind: 'Installation', metadata: { name: 'attack' } },
      dry: true,
    },
    patch(`${groupPath(github, namespace, 'repositorygrants')}/x/status`, { status: { decision: 'Approved' } }),
    patch(`${groupPath(github, namespace, 'repositorygrants')}/x`, { spec: { repositories: ['acme/shop'] } }),
    patch(`${groupPath(apps, namespace, 'applications')}/x/status`, { status: { url: 'http://x' } }),
    patch(`${groupPath(apps, namespace, 'remotesyncs')}/x/status`, { status: { image: 'x' } }),
    {
      as,
      method: 'POST',
      path: groupPath(apps, namespace, 'previewapprovals'),
      json: previewApproval,
      dry: true,
    },
    patch(`${groupPath(apps, namespace, 'previewapprovals')}/x/status`, { status: { conditions: [] } }),
    patch('/apis/apps.sekisho.dev/v1alpha1/applicationcharts/web', { spec: {} }),
    patch('/apis/github.sekisho.dev/v1alpha1/clustergithubapps/github', { spec: { endpoints: { api: 'http://x' } } }),
    patch('/apis/tenancy.sekisho.dev/v1alpha1/tenants/acme', { spec: { roles: [] } }),
    patch('/apis/tenancy.sekisho.dev/v1alpha1/tenants/globex', { spec: { limits: {} } }),
    { as, method: 'DELETE', path: '/apis/tenancy.sekisho.dev/v1alpha1/tenants/acme' },
    {
      as,
      method: 'POST',
      path: '/apis/tenancy.sekisho.dev/v1alpha1/domainclaims',
      json: {
        apiVersion: 'tenancy.sekisho.dev/v1alpha1',
        kind: 'DomainClaim',
        metadata: { name: 'shop.acme.localhost' },
        spec: {},
      },
    },
    {
      as,
      method: 'POST',
      path: groupPath('kpack.io/v1alpha2', `${neighbourNamespace}-build`, 'builds'),
      json: { apiVersion: 'kpack.io/v1alpha2', kind: 'Build', metadata: { name: 'attack' }, spec: {} },
    },
    {
      as,
      method: 'POST',
      path: groupPath('kpack.io/v1alpha2', namespace, 'images'),
      json: { apiVersion: 'kpack.io/v1alpha2', kind: 'Image', metadata: { name: 'attack' }, spec: {} },
      dry: true,
    },
    {
      as,
      method: 'POST',
      path: corePath(platformNamespace, 'configmaps'),
      json: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'attack' } },
    },
    patch(`${corePath(platformNamespace, 'configmaps')}/sekisho-settings`, { data: { SEKISHO_REGISTRY: 'x' } }),
    patch(`${corePath(platformNamespace, 'configmaps')}/sekisho-audit-checkpoints`, { data: {} }),
    {
      as,
      method: 'PUT',
      path: `${groupPath('coordination.k8s.io/v1', platformNamespace, 'leases')}/sekisho-controllers`,
      json: { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'sekisho-controllers' } },
    },
  ]
}

/** Answers to grants that nobody may give so: in an emergency, as the platform, or in the name of somebody else. */
function grantAnswers(as: Actor, namespace: string): readonly ApiAttempt[] {
  const apiVersion = 'github.sekisho.dev/v1alpha1'
  const grant = { name: 'attack', uid: '0a5e1f7c-3b1d-4c62-9f0e-6d2f8b7a9c11' }
  const other = { requestedBy: 'github|github.localhost|1001' }
  const wrong = [
    { breakGlass: true, lifetimeSeconds: 600 },
    { breakGlass: true, lifetimeSeconds: 600, ...other },
    { via: 'Page' },
  ]
  return [...wrong, { via: 'Page', ...other }, other].map(more => ({
    as,
    method: 'POST',
    path: groupPath(apiVersion, namespace, 'grantapprovals'),
    json: {
      apiVersion,
      kind: 'GrantApproval',
      metadata: { name: 'attack' },
      spec: { grant, answer: 'Approve', reason: 'an attack', ...more },
    },
    dry: true,
  }))
}

/** What a viewer must not write in the tenant's own namespace. */
function viewerWrites(as: Actor): readonly ApiAttempt[] {
  const create = (path: string, apiVersion: string, kind: string): ApiAttempt => ({
    as,
    method: 'POST',
    path,
    json: { apiVersion, kind, metadata: { name: 'attack' } },
  })
  const own = tenantNamespace
  return [
    create(corePath(own, 'pods'), 'v1', 'Pod'),
    create(corePath(own, 'secrets'), 'v1', 'Secret'),
    create(corePath(own, 'configmaps'), 'v1', 'ConfigMap'),
    create(corePath(own, 'services'), 'v1', 'Service'),
    create(groupPath('apps/v1', own, 'deployments'), 'apps/v1', 'Deployment'),
    create(groupPath('batch/v1', own, 'jobs'), 'batch/v1', 'Job'),
    create(groupPath('apps.sekisho.dev/v1alpha1', own, 'applications'), 'apps.sekisho.dev/v1alpha1', 'Application'),
    create(groupPath('github.sekisho.dev/v1alpha1', own, 'repositorygrants'), 'github.sekisho.dev/v1alpha1', 'RepositoryGrant'),
    {
      as,
      method: 'PATCH',
      path: `${groupPath('apps.sekisho.dev/v1alpha1', own, 'applications')}/shop`,
      json: { spec: { image: 'x' } },
      contentType: mergePatch,
    },
    {
      as,
      method: 'PATCH',
      path: `${groupPath('apps/v1', own, 'deployments')}/shop-web/scale`,
      json: { spec: { replicas: 0 } },
      contentType: mergePatch,
    },
    { as, method: 'DELETE', path: `${groupPath('apps.sekisho.dev/v1alpha1', own, 'applications')}/shop` },
    { as, method: 'DELETE', path: corePath(own, 'pods') },
  ]
}

export const kindAttacks: readonly Attack[] = [
  {
    name: 'kinds/of-the-platform',
    as: 'gary, admin of globex, and dave, developer of acme',
    against: 'Installations, decisions on grants, status, Tenants, charts, Apps, builds, settings',
    tries: 'Creates, changes or deletes what only the platform or its administrators write, of others and of one’s own tenant.',
    expected: ['RBAC'],
    attempts: world =>
      apiAttempts(world, [
        ...platformKinds('gary', tenantNamespace),
        ...platformKinds('gary', neighbourNamespace),
        ...platformKinds('dave', tenantNamespace),
      ]),
  },
  {
    name: 'kinds/grant-answers',
    as: 'gary, admin of globex, and dave, developer of acme',
    against: 'grants that wait for people',
    tries: 'Approves a grant by break-glass, as if on a page, and in the name of olivia.',
    expected: ['RBAC', 'admission'],
    attempts: world =>
      apiAttempts(world, [
        ...grantAnswers('gary', neighbourNamespace),
        ...grantAnswers('gary', tenantNamespace),
        ...grantAnswers('dave', tenantNamespace),
      ]),
  },
  {
    name: 'kinds/as-viewer',
    as: 'mia, viewer of acme, and gary of globex',
    against: 'the objects of acme',
    tries: 'Writes in acme without a role that writes there.',
    expected: ['RBAC'],
    attempts: world => apiAttempts(world, [...viewerWrites('mia'), ...viewerWrites('gary')]),
  },
]
