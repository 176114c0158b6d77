// What the controllers may do in the two namespaces of each tenant, by the RoleBindings that the Tenant controller makes there.
import { domain } from '../kind.ts'
import { appSecretPrefix, buildSecretPrefix, registrySecrets, reservedSecretPrefix } from '../names.ts'
import type { Right } from './right.ts'

const github = `github.${domain}`
const apps = `apps.${domain}`
const rbac = 'rbac.authorization.k8s.io'
const tenantEnds = 'src/controllers/tenant/reconcile.ts'
const tenantFills = 'src/controllers/tenant/contents/fill-namespaces.ts'
const tenantPrunes = 'src/controllers/tenant/contents/prune.ts'
const tenantContents = 'src/controllers/tenant/desired.ts'
const tenantCaches = 'src/controllers/tenant/own-objects.ts'
const namespaceEnds = 'src/controllers/tenant/end/end-namespaces.ts'
const applicationWrites = 'src/controllers/application/objects/apply-objects.ts'
const rendered = 'src/controllers/application/rendering/renderable-kinds.ts'
const failedChecks = 'src/controllers/application/rollout/read-failed-checks.ts'
const releaseWrites = 'src/controllers/application/releases/write-releases.ts'
const kpack = 'src/services/builds/kpack/kpack-builder.ts'
const buildkit = 'src/services/builds/buildkit/buildkit-builder.ts'
const buildpacks = 'src/services/builds/buildpacks/buildpacks-builder.ts'
const tokenDesk = 'src/services/token-desk/open.ts'
const buildLogs = 'src/services/builds/logs/read-step.ts'
const events = 'src/kube/object/events.ts'
const tokenSecrets = 'src/controllers/repository-grant/delivery/keep-secrets.ts'
const controllerOf = (kind: string): string => `src/controllers/${kind}/index.ts`
const reconcilerOf = (kind: string): string => `src/controllers/${kind}/reconcile.ts`

/**
 * What the Tenant controller keeps in both namespaces. `namespaces` is the namespace itself: RBAC asks for it in that
 * namespace.
 */
function ofTenant(place: 'application' | 'build'): readonly Right[] {
  return [
    { place, group: '', resources: ['namespaces'], verbs: ['patch', 'delete'], usedBy: [tenantFills, tenantEnds] },
    {
      place,
      group: 'networking.k8s.io',
      resources: ['networkpolicies'],
      verbs: ['create', 'patch', 'delete'],
      usedBy: [tenantContents, tenantPrunes],
    },
    {
      place,
      group: '',
      resources: ['resourcequotas'],
      verbs: ['create', 'patch', 'delete'],
      usedBy: [tenantContents, tenantPrunes],
    },
    { place, group: '', resources: ['limitranges'], verbs: ['create', 'patch'], usedBy: [tenantContents] },
    {
      place,
      group: '',
      resources: ['secrets'],
      names: [registrySecrets[place === 'build' ? 'build' : 'pull']],
      verbs: ['get', 'create', 'patch'],
      usedBy: [tenantContents, tenantCaches],
    },
  ]
}

const onlyAdminsRender = 'charts of platform admins render these kinds; those of the suites do not'

/** Kinds that charts render and nothing else writes. */
function renderedKinds(group: string, resources: readonly string[]): Right {
  return {
    place: 'application',
    group,
    resources,
    verbs: ['get', 'create', 'patch', 'delete'],
    usedBy: [applicationWrites, rendered],
  }
}

const inApplications: readonly Right[] = [
  ...ofTenant('application'),
  { place: 'application', group: rbac, resources: ['rolebindings'], verbs: ['delete'], usedBy: [tenantPrunes] },
  // The values of AppSecrets. RBAC has no prefixes, so this reads every Secret there, which whoever may create pods there can
  // do, too.
  {
    place: 'application',
    group: '',
    resources: ['secrets'],
    namePrefix: appSecretPrefix,
    verbs: ['get', 'create', 'patch', 'delete'],
    usedBy: [
      reconcilerOf('app-secret'),
      'src/services/builds/build-secrets.ts',
      'src/services/builds/logs/open.ts',
      'src/controllers/github-report/gather.ts',
    ],
  },
  // The tokens of grants with the delivery Secret.
  {
    place: 'application',
    group: '',
    resources: ['secrets'],
    namePrefix: reservedSecretPrefix,
    verbs: ['get', 'create', 'patch', 'delete'],
    usedBy: [tokenSecrets],
  },
  {
    place: 'application',
    group: apps,
    resources: ['appsecrets'],
    verbs: ['patch'],
    usedBy: [reconcilerOf('app-secret')],
  },
  {
    place: 'application',
    group: apps,
    resources: ['appsecrets/status'],
    verbs: ['patch'],
    usedBy: [controllerOf('app-secret')],
  },
  // The kinds that charts render; `default`, `sekisho-ca` and `sekisho-git` of every tenant are among them.
  {
    place: 'application',
    group: '',
    resources: ['serviceaccounts', 'configmaps', 'services'],
    verbs: ['get', 'create', 'patch', 'delete'],
    usedBy: [applicationWrites, rendered, tenantContents, reconcilerOf('service-proxy'), tokenSecrets],
  },
  renderedKinds('apps', ['deployments']),
  renderedKinds('', ['persistentvolumeclaims']),
  {
    place: 'application',
    group: '',
    resources: ['persistentvolumeclaims/status'],
    verbs: ['patch'],
    usedBy: [applicationWrites],
  },
  renderedKinds('batch', ['cronjobs']),
  {
    place: 'application',
    group: 'batch',
    resources: ['jobs'],
    verbs: ['get', 'create', 'patch', 'delete'],
    usedBy: [applicationWrites, rendered, releaseWrites],
  },
  renderedKinds('autoscaling', ['horizontalpodautoscalers']),
  { ...renderedKinds('policy', ['poddisruptionbudgets']), unseen: onlyAdminsRender },
  renderedKinds('networking.k8s.io', ['ingresses']),
  {
    place: 'application',
    group: '',
    resources: ['pods'],
    verbs: ['get'],
    usedBy: ['src/services/token-desk/server/workload.ts'],
  },
  // Between a pod and its Application.
  {
    place: 'application',
    group: 'apps',
    resources: ['replicasets'],
    verbs: ['get'],
    usedBy: ['src/services/token-desk/server/application-of-pod.ts'],
  },
  // Of a namespace that is being deleted, those that have not ended long after their grace period.
  { place: 'application', group: '', resources: ['pods'], verbs: ['delete'], usedBy: [namespaceEnds] },
  { place: 'application', group: '', resources: ['events'], verbs: ['create', 'patch'], usedBy: [events] },
  // What the kubelet's checks of a process that is not ready got.
  { place: 'application', group: '', resources: ['events'], verbs: ['list'], usedBy: [failedChecks] },
  // Our own kinds: finalizers, wakes, images and status; grants that RemoteSyncs own.
  { place: 'application', group: github, resources: ['installations'], verbs: ['patch'], usedBy: [reconcilerOf('installation')] },
  {
    place: 'application',
    group: github,
    resources: ['repositorygrants'],
    verbs: ['create', 'patch', 'delete'],
    usedBy: ['src/controllers/kit/repository/ensure-owned-grant.ts', reconcilerOf('repository-grant'), tokenDesk],
  },
  {
    place: 'application',
    group: github,
    resources: ['grantapprovals'],
    verbs: ['delete'],
    usedBy: [reconcilerOf('grant-approval')],
  },
  { place: 'application', group: github, resources: ['halts'], verbs: ['patch', 'delete'], usedBy: [reconcilerOf('halt')] },
  {
    place: 'application',
    group: github,
    resources: ['installations', 'repositorygrants', 'grantapprovals', 'grantpolicies', 'halts'].map(kind => `${kind}/status`),
    verbs: ['patch'],
    usedBy: ['grant-approval', 'grant-policy', 'halt', 'installation', 'repository-grant'].map(controllerOf),
  },
  {
    place: 'application',
    group: apps,
    resources: ['applications', 'remotesyncs'],
    verbs: ['create', 'patch', 'delete'],
    usedBy: [
      reconcilerOf('remote-sync'),
      'src/controllers/remote-sync/deployment/apply-image.ts',
      'src/controllers/kit/owned-application/ensure-owned.ts',
      'src/controllers/kit/owned-application/remove-owned.ts',
      'src/controllers/app-pipeline/apply-previews.ts',
    ],
  },
  { place: 'application', group: apps, resources: ['apppipelines'], verbs: ['patch'], usedBy: [reconcilerOf('app-pipeline')] },
  {
    place: 'application',
    group: apps,
    resources: ['apppipelines/status'],
    verbs: ['patch'],
    usedBy: [controllerOf('app-pipeline')],
  },
  { place: 'application', group: apps, resources: ['releases'], verbs: ['create', 'delete'], usedBy: [releaseWrites] },
  {
    place: 'application',
    group: apps,
    resources: ['githubreports'],
    verbs: ['create', 'delete'],
    usedBy: [reconcilerOf('github-report')],
  },
  {
    place: 'application',
    group: apps,
    resources: ['previewapprovals'],
    verbs: ['create', 'delete'],
    usedBy: [reconcilerOf('preview-approval')],
  },
  {
    place: 'application',
    group: apps,
    resources: ['githubreports/status'],
    verbs: ['patch'],
    usedBy: [controllerOf('github-report')],
  },
  {
    place: 'application',
    group: apps,
    resources: ['previewapprovals/status'],
    verbs: ['patch'],
    usedBy: [controllerOf('preview-approval')],
  },
  {
    place: 'application',
    group: apps,
    resources: ['releases/status'],
    verbs: ['patch'],
    usedBy: [controllerOf('application')],
  },
  {
    place: 'application',
    group: apps,
    resources: ['applications/status', 'remotesyncs/status'],
    verbs: ['patch'],
    usedBy: [controllerOf('application'), controllerOf('remote-sync')],
  },
]

const inBuilds: readonly Right[] = [
  ...ofTenant('build'),
  {
    place: 'build',
    group: '',
    resources: ['serviceaccounts'],
    names: ['builder'],
    verbs: ['create', 'patch'],
    usedBy: [tenantContents],
  },
  { place: 'build', group: 'kpack.io', resources: ['builds'], verbs: ['create', 'delete'], usedBy: [kpack] },
  // Values of AppSecrets for one build, while it runs.
  {
    place: 'build',
    group: '',
    resources: ['secrets'],
    namePrefix: buildSecretPrefix,
    verbs: ['create', 'patch', 'delete'],
    usedBy: ['src/services/builds/build-secrets.ts'],
  },
  {
    place: 'build',
    group: '',
    resources: ['pods', 'pods/log'],
    verbs: ['get'],
    usedBy: [kpack, buildkit, buildpacks, buildLogs],
  },
  // Held to one shape by the policy build-pods.
  {
    place: 'build',
    group: '',
    resources: ['pods'],
    verbs: ['create', 'delete'],
    usedBy: [buildkit, buildpacks, namespaceEnds],
  },
]

export const controllersRightsOfTenants: readonly Right[] = [...inApplications, ...inBuilds]
