// What the broker, the side that faces the internet, may do in the cluster. It reads no Secret, writes no namespace, role or
// workload.
import { auditCheckpoints } from '../audit/audit-access.ts'
import { domain } from '../kind.ts'
import { followerKinds } from '../registry.ts'
import type { Right } from './right.ts'

const tenancy = `tenancy.${domain}`
const github = `github.${domain}`
const roles = 'src/broker/owners/change-roles.ts'
const bindApp = 'src/broker/owners/bind-app.ts'
const standIn = 'src/broker/owners/stand-in.ts'
const offboard = 'src/broker/owners/offboard.ts'
const onboarding = 'src/broker/onboarding/onboarding-steps.ts'
const candidates = 'src/broker/webhooks/candidate-reader.ts'
const wakes = 'src/broker/webhooks/handle-delivery.ts'
const app = 'src/broker/app.ts'
const pages = 'src/broker/tenants/applications.ts'
const services = 'src/broker/tenants/services.ts'
const checkpoints = 'src/broker/audit/checkpoint-export.ts'
const cached = ['list', 'watch'] as const

export const brokerRights: readonly Right[] = [
  {
    place: 'cluster',
    group: tenancy,
    resources: ['tenants'],
    verbs: ['get', ...cached, 'create', 'patch'],
    usedBy: [onboarding, wakes, candidates, roles, app],
  },
  // One by one, and after its owner has typed the name: `deletecollection` is not among them.
  { place: 'cluster', group: tenancy, resources: ['tenants'], verbs: ['delete'], usedBy: [offboard] },
  { place: 'cluster', group: github, resources: ['clustergithubapps'], verbs: cached, usedBy: [app] },
  {
    place: 'cluster',
    group: github,
    resources: ['installations'],
    verbs: ['get', ...cached],
    usedBy: [onboarding, candidates, app, bindApp, standIn],
  },
  { place: 'cluster', group: github, resources: ['repositorygrants'], verbs: cached, usedBy: [candidates, app] },
  { place: 'cluster', group: github, resources: ['halts'], verbs: cached, usedBy: [app, 'src/broker/people/halt-controller.ts'] },
  ...followerKinds.map(
    ({ group, plural }): Right => ({ place: 'cluster', group, resources: [plural], verbs: cached, usedBy: [candidates] }),
  ),
  // Whether a name is free, whether the namespace of a new tenant is there, and whether a ServiceAccount is of a tenant.
  {
    place: 'cluster',
    group: '',
    resources: ['namespaces'],
    verbs: ['get'],
    usedBy: [onboarding, 'src/broker/auditors/audit-readers.ts'],
  },
  {
    place: 'cluster',
    group: 'authentication.k8s.io',
    resources: ['tokenreviews'],
    verbs: ['create'],
    usedBy: ['src/broker/auditors/service-accounts.ts'],
  },
  {
    place: 'cluster',
    group: 'authorization.k8s.io',
    resources: ['subjectaccessreviews'],
    verbs: ['create'],
    usedBy: ['src/broker/people/access-reviews.ts'],
  },

  {
    place: 'application',
    group: github,
    resources: ['installations'],
    verbs: ['create', 'delete'],
    usedBy: [onboarding, bindApp],
  },
  {
    place: 'application',
    group: github,
    resources: ['installations', 'repositorygrants'],
    verbs: ['patch'],
    usedBy: [wakes, onboarding, standIn],
  },
  ...followerKinds.map(
    ({ group, plural }): Right => ({ place: 'application', group, resources: [plural], verbs: ['patch'], usedBy: [wakes] }),
  ),

  // What people see on the page of their tenant, read when they look and after RBAC allowed them to.
  {
    place: 'application',
    group: `apps.${domain}`,
    resources: ['applications'],
    verbs: ['get', 'list'],
    usedBy: [pages, offboard],
  },
  { place: 'application', group: `apps.${domain}`, resources: ['releases'], verbs: ['list'], usedBy: [pages] },
  {
    place: 'application',
    group: `services.${domain}`,
    resources: ['serviceinstances', 'buckets'],
    verbs: ['list'],
    usedBy: [services],
  },

  {
    place: 'application',
    group: `apps.${domain}`,
    resources: ['previewapprovals'],
    verbs: ['get', 'create'],
    usedBy: ['src/broker/previews/approve-preview.ts'],
  },

  // What people answer for grants on the page of their tenant, and what is shown of it.
  {
    place: 'application',
    group: github,
    resources: ['grantapprovals'],
    verbs: ['list'],
    usedBy: ['src/broker/grants/visible-grants.ts'],
  },
  {
    place: 'application',
    group: github,
    resources: ['grantapprovals'],
    verbs: ['create'],
    usedBy: ['src/broker/grants/answer-grant.ts'],
  },

  {
    place: 'platform',
    group: '',
    resources: ['configmaps'],
    names: [auditCheckpoints],
    verbs: ['get', 'create', 'patch'],
    usedBy: [checkpoints],
  },
]
