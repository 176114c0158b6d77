// What the controllers may do in the cluster. Cluster-wide they read what their caches hold and write only what has no namespace;
// in tenants' namespaces they write by RoleBindings of the Tenant controller. They list no Secrets, and read others by name.
import { domain } from '../kind.ts'
import { admissionWebhook, isolatedServiceAccount, namespaceRoles, tenantRoles } from '../names.ts'
import { controllersRightsInPlatform } from './controllers-in-platform.ts'
import { controllersRightsOfServices } from './controllers-of-services.ts'
import { controllersRightsOfTenants } from './controllers-of-tenants.ts'
import type { Right } from './right.ts'

const tenancy = `tenancy.${domain}`
const github = `github.${domain}`
const apps = `apps.${domain}`
const rbac = 'rbac.authorization.k8s.io'
const tenantFills = 'src/controllers/tenant/contents/fill-namespaces.ts'
const tenantRights = 'src/controllers/tenant/rights/platform-rights.ts'
const tenantCaches = 'src/controllers/tenant/own-objects.ts'
const applicationCaches = 'src/controllers/application/index.ts'
const claims = 'src/controllers/application/domains/claim-domains.ts'
const kpack = 'src/services/builds/kpack/kpack-builder.ts'
const tokenDesk = 'src/services/token-desk/open.ts'
const events = 'src/kube/object/events.ts'
const controllerOf = (kind: string): string => `src/controllers/${kind}/index.ts`
const reconcilerOf = (kind: string): string => `src/controllers/${kind}/reconcile.ts`
const cached = ['list', 'watch'] as const

const clusterWide: readonly Right[] = [
  {
    place: 'cluster',
    group: tenancy,
    resources: ['tenants'],
    verbs: [...cached, 'patch'],
    usedBy: [controllerOf('tenant'), reconcilerOf('tenant')],
  },
  {
    place: 'cluster',
    group: tenancy,
    resources: ['domainclaims'],
    verbs: ['get', ...cached, 'create', 'patch', 'delete'],
    usedBy: [claims, controllerOf('domain-claim'), reconcilerOf('domain-claim')],
  },
  {
    place: 'cluster',
    group: github,
    resources: ['clustergithubapps', 'clustergrantpolicies', 'grantapprovals', 'grantpolicies'],
    verbs: cached,
    usedBy: ['cluster-github-app', 'grant-approval', 'grant-policy', 'repository-grant'].map(controllerOf),
  },
  { place: 'cluster', group: apps, resources: ['applicationcharts'], verbs: cached, usedBy: [controllerOf('application-chart')] },
  {
    place: 'cluster',
    group: tenancy,
    resources: ['tenants/status', 'domainclaims/status'],
    verbs: ['patch'],
    usedBy: [controllerOf('tenant'), controllerOf('domain-claim')],
  },
  {
    place: 'cluster',
    group: github,
    resources: ['clustergithubapps/status', 'clustergrantpolicies/status'],
    verbs: ['patch'],
    usedBy: [controllerOf('cluster-github-app'), controllerOf('grant-policy')],
  },
  {
    place: 'cluster',
    group: apps,
    resources: ['applicationcharts/status'],
    verbs: ['patch'],
    usedBy: [controllerOf('application-chart')],
  },
  {
    place: 'cluster',
    group: github,
    resources: ['halts'],
    verbs: cached,
    usedBy: [controllerOf('halt'), 'src/services/token-desk/gather.ts'],
  },
  {
    place: 'cluster',
    group: github,
    resources: ['installations', 'repositorygrants'],
    verbs: ['get', ...cached],
    usedBy: [
      'src/services/token-desk/gather.ts',
      tokenDesk,
      controllerOf('installation'),
      controllerOf('repository-grant'),
      reconcilerOf('grant-approval'),
      controllerOf('application'),
    ],
  },
  {
    place: 'cluster',
    group: apps,
    resources: ['applications', 'remotesyncs'],
    verbs: ['get', ...cached],
    usedBy: [
      'src/services/token-desk/server/application-of-pod.ts',
      controllerOf('repository-grant'),
      reconcilerOf('application'),
      reconcilerOf('remote-sync'),
      controllerOf('remote-sync'),
      controllerOf('app-pipeline'),
      'src/controllers/kit/owned-application/ensure-owned.ts',
      'src/controllers/repository-grant/records/record-end.ts',
    ],
  },
  { place: 'cluster', group: apps, resources: ['githubreports'], verbs: cached, usedBy: [controllerOf('github-report')] },
  {
    place: 'cluster',
    group: apps,
    resources: ['releases'],
    verbs: ['get', ...cached],
    usedBy: [applicationCaches, 'src/controllers/application/releases/snapshots.ts'],
  },
  {
    place: 'cluster',
    group: apps,
    resources: ['apppipelines'],
    verbs: ['get', ...cached],
    usedBy: [
      controllerOf('app-pipeline'),
      controllerOf('preview-approval'),
      'src/controllers/repository-grant/records/record-end.ts',
    ],
  },
  {
    place: 'cluster',
    group: apps,
    resources: ['previewapprovals'],
    verbs: ['get', ...cached],
    usedBy: [controllerOf('preview-approval'), controllerOf('remote-sync'), 'src/controllers/remote-sync/source/fork-wall.ts'],
  },
  {
    place: 'cluster',
    group: apps,
    resources: ['appsecrets'],
    verbs: ['get', ...cached],
    usedBy: [reconcilerOf('app-secret'), controllerOf('app-secret'), applicationCaches],
  },
  // The only writes outside the namespaces of tenants and of the platform; the policy own-namespaces says which. The Tenant
  // controller creates a namespace, and in it the bindings by which everything else is allowed there.
  {
    place: 'cluster',
    group: '',
    resources: ['namespaces'],
    verbs: ['get', ...cached, 'create'],
    usedBy: ['src/controllers/tenant/gather.ts', tenantFills, tenantCaches],
  },
  { place: 'cluster', group: 'node.k8s.io', resources: ['runtimeclasses'], verbs: cached, usedBy: [controllerOf('tenant')] },
  {
    place: 'cluster',
    group: rbac,
    resources: ['rolebindings'],
    verbs: cached,
    usedBy: [tenantCaches, 'src/controllers/kit/missing-right.ts'],
  },
  {
    place: 'cluster',
    within: ['application', 'build'],
    group: rbac,
    resources: ['rolebindings'],
    verbs: ['create', 'patch'],
    usedBy: [tenantRights],
  },
  {
    place: 'cluster',
    group: rbac,
    resources: ['clusterroles'],
    names: [...Object.values(tenantRoles), ...Object.values(namespaceRoles)],
    verbs: ['bind'],
    usedBy: ['src/controllers/tenant/rights/role-bindings.ts', 'src/controllers/tenant/rights/platform-bindings.ts'],
    unseen: 'not a request of its own: the API server asks for it when a RoleBinding is written',
  },
  { place: 'cluster', group: '', resources: ['resourcequotas', 'limitranges'], verbs: cached, usedBy: [tenantCaches] },
  { place: 'cluster', group: 'networking.k8s.io', resources: ['networkpolicies'], verbs: cached, usedBy: [tenantCaches] },
  // By name, because tenants make objects of these kinds, too.
  {
    place: 'cluster',
    group: '',
    resources: ['serviceaccounts'],
    names: ['builder', 'default', isolatedServiceAccount],
    verbs: cached,
    usedBy: [tenantCaches],
  },
  {
    place: 'cluster',
    group: '',
    resources: ['configmaps'],
    names: ['sekisho-ca', 'sekisho-git'],
    verbs: cached,
    usedBy: [tenantCaches],
  },
  { place: 'cluster', group: 'apps', resources: ['deployments'], verbs: cached, usedBy: [applicationCaches] },
  // What else may name an image. In the whole cluster, because in a namespace that is gone there is no RoleBinding, and the
  // answer must be certain.
  {
    place: 'cluster',
    group: 'apps',
    resources: ['replicasets', 'statefulsets', 'daemonsets', 'controllerrevisions'],
    verbs: ['list'],
    usedBy: ['src/services/image-cleanup/look.ts'],
  },
  { place: 'cluster', group: 'batch', resources: ['jobs', 'cronjobs'], verbs: cached, usedBy: [applicationCaches] },
  {
    place: 'cluster',
    group: 'autoscaling',
    resources: ['horizontalpodautoscalers'],
    verbs: cached,
    usedBy: [applicationCaches],
  },
  {
    place: 'cluster',
    group: '',
    resources: ['services', 'persistentvolumeclaims'],
    verbs: cached,
    usedBy: [applicationCaches, controllerOf('service-proxy')],
  },
  // How many endpoints the Services of a tenant have. Of each slice only their number is kept.
  {
    place: 'cluster',
    group: 'discovery.k8s.io',
    resources: ['endpointslices'],
    verbs: cached,
    usedBy: [controllerOf('service-proxy')],
  },
  {
    place: 'cluster',
    group: '',
    resources: ['pods'],
    verbs: cached,
    usedBy: [applicationCaches, controllerOf('remote-sync'), 'src/controllers/tenant/end/end-namespaces.ts'],
  },
  {
    place: 'cluster',
    group: 'networking.k8s.io',
    resources: ['ingresses'],
    verbs: cached,
    usedBy: [applicationCaches, controllerOf('domain-claim')],
  },
  {
    place: 'cluster',
    group: 'kpack.io',
    resources: ['builds'],
    verbs: ['get', ...cached],
    usedBy: [kpack, controllerOf('remote-sync')],
  },
  {
    place: 'cluster',
    group: 'kpack.io',
    resources: ['clusterbuilders'],
    verbs: ['get', ...cached],
    usedBy: [kpack, controllerOf('remote-sync')],
  },
  {
    place: 'cluster',
    group: 'apiextensions.k8s.io',
    resources: ['customresourcedefinitions'],
    names: ['builds.kpack.io'],
    verbs: ['get'],
    usedBy: [kpack],
  },
  // Only to read by which authorities API servers verify the webhook. Nobody of ours may write registrations:
  // docs/adr/0029-who-calls-the-webhook.md.
  {
    place: 'cluster',
    group: 'admissionregistration.k8s.io',
    resources: ['validatingwebhookconfigurations', 'mutatingwebhookconfigurations'],
    names: [admissionWebhook.registration],
    verbs: ['get'],
    usedBy: ['src/services/webhook-certificate/open.ts', 'src/services/wall-probe/admission/compare-admission.ts'],
  },
  // To compare those of the platform with what this version ships. RBAC cannot narrow a list to names.
  {
    place: 'cluster',
    group: 'admissionregistration.k8s.io',
    resources: [
      'validatingadmissionpolicies',
      'validatingadmissionpolicybindings',
      'mutatingadmissionpolicies',
      'mutatingadmissionpolicybindings',
    ],
    verbs: ['list'],
    usedBy: ['src/services/wall-probe/admission/compare-admission.ts'],
  },
  {
    place: 'cluster',
    group: 'authentication.k8s.io',
    resources: ['tokenreviews'],
    verbs: ['create'],
    usedBy: ['src/services/token-desk/server/workload.ts'],
  },
]

export const controllersRights: readonly Right[] = [
  ...clusterWide,
  ...controllersRightsOfTenants,
  ...controllersRightsInPlatform,
  ...controllersRightsOfServices,
  { place: 'default', group: '', resources: ['events'], verbs: ['create', 'patch'], usedBy: [events] },
]
