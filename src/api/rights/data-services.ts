// What the process data-services may do in the cluster: it reads what tenants ask for, writes the Secrets with credentials and
// the status of the kinds of services, and nothing else.
import { domain } from '../kind.ts'
import { bindingSecretPrefix } from '../services/binding-secret.ts'
import type { Right } from './right.ts'

const services = `services.${domain}`
const cached = ['list', 'watch'] as const
const events = 'src/kube/object/events.ts'
const indexOf = (kind: string): string => `src/data-services/${kind}/index.ts`
const reconcilerOf = (kind: string): string => `src/data-services/${kind}/reconcile.ts`
const controllers = ['service-class', 'service-instance', 'bucket', 'service-binding']

export const dataServicesRights: readonly Right[] = [
  {
    place: 'cluster',
    group: `tenancy.${domain}`,
    resources: ['tenants'],
    verbs: cached,
    usedBy: [indexOf('service-instance'), indexOf('bucket')],
  },
  {
    place: 'cluster',
    group: services,
    resources: ['serviceclasses', 'serviceinstances', 'buckets', 'servicebindings'],
    verbs: cached,
    usedBy: controllers.map(indexOf),
  },
  { place: 'cluster', group: services, resources: ['serviceclasses'], verbs: ['patch'], usedBy: [reconcilerOf('service-class')] },
  {
    place: 'cluster',
    group: services,
    resources: ['serviceclasses/status'],
    verbs: ['patch'],
    usedBy: [indexOf('service-class')],
  },
  { place: 'default', group: '', resources: ['events'], verbs: ['create'], usedBy: [events] },
  {
    place: 'default',
    group: '',
    resources: ['events'],
    verbs: ['patch'],
    usedBy: [events],
    unseen: 'counts an equal Event: no suite makes a ServiceClass say the same twice',
  },
  // The accounts of the servers. The namespace has nothing else, and a ServiceClass names which.
  { place: 'data', group: '', resources: ['secrets'], verbs: ['get'], usedBy: ['src/data-services/service-class/gather.ts'] },
  {
    place: 'application',
    group: services,
    resources: ['serviceinstances', 'buckets', 'servicebindings'],
    verbs: ['patch'],
    usedBy: controllers.slice(1).map(reconcilerOf),
  },
  {
    place: 'application',
    group: services,
    resources: ['serviceinstances/status', 'buckets/status', 'servicebindings/status'],
    verbs: ['patch'],
    usedBy: controllers.slice(1).map(indexOf),
  },
  // RBAC has no prefixes, so this reads every Secret there, which whoever may create pods there can do, too.
  {
    place: 'application',
    group: '',
    resources: ['secrets'],
    namePrefix: bindingSecretPrefix,
    verbs: ['get', 'create', 'patch', 'delete'],
    usedBy: [
      'src/data-services/service-binding/gather.ts',
      'src/data-services/service-binding/issue.ts',
      reconcilerOf('service-binding'),
    ],
  },
  { place: 'application', group: '', resources: ['events'], verbs: ['create', 'patch'], usedBy: [events] },
]
