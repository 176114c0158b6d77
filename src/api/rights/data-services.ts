// What the process data-services may do in the cluster: it reads what tenants ask for, writes the Secrets with credentials and
// the status of the kinds of services, and nothing else.
import { domain } from '../kind.ts'
import { bindingSecretPrefix } from '../services/binding-secret.ts'
import type { Right } from './right.ts'

const services = `services.${domain}`
const cached = ['list', 'watch'] as const

export const dataServicesRights: readonly Right[] = [
  { place: 'cluster', group: `tenancy.${domain}`, resources: ['tenants'], verbs: cached, usedBy: [] },
  {
    place: 'cluster',
    group: services,
    resources: ['serviceclasses', 'serviceinstances', 'servicebindings'],
    verbs: cached,
    usedBy: [],
  },
  { place: 'cluster', group: services, resources: ['serviceclasses/status'], verbs: ['patch'], usedBy: [] },
  { place: 'default', group: '', resources: ['events'], verbs: ['create', 'patch'], usedBy: [] },
  {
    place: 'application',
    group: services,
    resources: ['serviceinstances', 'servicebindings'],
    verbs: ['patch'],
    usedBy: [],
  },
  {
    place: 'application',
    group: services,
    resources: ['serviceinstances/status', 'servicebindings/status'],
    verbs: ['patch'],
    usedBy: [],
  },
  // RBAC has no prefixes, so this reads every Secret there, which whoever may create pods there can do, too.
  {
    place: 'application',
    group: '',
    resources: ['secrets'],
    namePrefix: bindingSecretPrefix,
    verbs: ['get', 'create', 'patch', 'delete'],
    usedBy: [],
  },
  { place: 'application', group: '', resources: ['events'], verbs: ['create', 'patch'], usedBy: [] },
]
