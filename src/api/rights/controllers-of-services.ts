// What the controllers may do about the services of Applications: they make ServiceBindings, the services of previews,
// and read what is said of them. The credentials are of the process data-services.
import { domain } from '../kind.ts'
import { bindingSecretPrefix } from '../services/binding-secret.ts'
import type { Right } from './right.ts'

const applicationCaches = 'src/controllers/application/index.ts'
const applicationWrites = 'src/controllers/application/objects/apply-objects.ts'
const serviceRecords = 'src/controllers/service-records/index.ts'
const ownedBindings = 'src/controllers/application/services/owned-bindings.ts'

export const controllersRightsOfServices: readonly Right[] = [
  {
    place: 'cluster',
    group: `services.${domain}`,
    resources: ['serviceclasses', 'serviceinstances', 'buckets', 'servicebindings'],
    verbs: ['list', 'watch'],
    usedBy: [applicationCaches, 'src/controllers/app-pipeline/index.ts', serviceRecords],
  },
  // Whether pods of an Application, or commands, are older than a credential.
  {
    place: 'cluster',
    group: '',
    resources: ['pods'],
    verbs: ['list'],
    usedBy: ['src/controllers/application/services/rolled-out.ts'],
  },
  // Credentials of services: what a report on GitHub must not repeat.
  {
    place: 'application',
    group: '',
    resources: ['secrets'],
    namePrefix: bindingSecretPrefix,
    verbs: ['get'],
    usedBy: ['src/controllers/github-report/gather.ts'],
  },
  {
    place: 'application',
    group: `services.${domain}`,
    resources: ['servicebindings'],
    verbs: ['get', 'create', 'patch', 'delete'],
    usedBy: [ownedBindings, 'src/controllers/application/services/rolled-out.ts'],
  },
  // The finalizers that keep services until the audit log has what became of them.
  {
    place: 'application',
    group: `services.${domain}`,
    resources: ['serviceinstances', 'buckets', 'servicebindings'],
    verbs: ['patch'],
    usedBy: [serviceRecords],
  },
  {
    place: 'application',
    group: `services.${domain}`,
    resources: ['serviceinstances', 'buckets'],
    verbs: ['get', 'create', 'patch', 'delete'],
    usedBy: ['src/controllers/app-pipeline/preview/own-services.ts'],
  },
  // The policies by which pods reach the servers of their services.
  {
    place: 'application',
    group: 'networking.k8s.io',
    resources: ['networkpolicies'],
    verbs: ['get', 'create', 'patch', 'delete'],
    usedBy: [applicationWrites, 'src/controllers/application/services/reach-policies.ts'],
  },
]
