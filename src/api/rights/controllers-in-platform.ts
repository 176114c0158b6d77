// What the controllers may do in the namespace of the platform. Secrets there are read by their names only.
import { domain } from '../kind.ts'
import { admissionWebhook, appSecretsKeyMap, registrySecrets } from '../names.ts'
import { authorizerNames, wallProbeAccount, wallRecord } from '../wall-names.ts'
import type { Right } from './right.ts'

const controllerOf = (kind: string): string => `src/controllers/${kind}/index.ts`
const events = 'src/kube/object/events.ts'
const cached = ['list', 'watch'] as const

/** The App keys of a new installation, two for a rotation. An admin gives rights on others by name: docs/guide/install.md. */
const appKeySecrets = ['github-app-key', 'github-app-key-2'] as const

export const controllersRightsInPlatform: readonly Right[] = [
  {
    place: 'platform',
    group: '',
    resources: ['configmaps'],
    verbs: cached,
    usedBy: [
      controllerOf('application-chart'),
      controllerOf('application'),
      controllerOf('tenant'),
      'src/services/network-probe/open.ts',
      'src/services/wall-probe/open.ts',
    ],
  },
  {
    place: 'platform',
    group: '',
    resources: ['configmaps'],
    names: ['sekisho-network-status'],
    verbs: ['create', 'patch'],
    usedBy: ['src/services/network-probe/network-probe.ts'],
  },
  {
    place: 'platform',
    group: '',
    resources: ['configmaps'],
    names: [wallRecord.name],
    verbs: ['create', 'patch'],
    usedBy: ['src/services/wall-probe/wall-probe.ts'],
  },
  // Of the one ServiceAccount that has no right, and of no other: docs/adr/0090-walls-that-say-when-they-are-off.md.
  {
    place: 'platform',
    group: '',
    resources: ['serviceaccounts/token'],
    names: [wallProbeAccount],
    verbs: ['create'],
    usedBy: ['src/services/wall-probe/try-walls.ts'],
  },
  {
    place: 'platform',
    group: '',
    resources: ['configmaps'],
    names: ['sekisho-user-ranges'],
    verbs: ['get', 'create', 'patch'],
    usedBy: ['src/controllers/tenant/users/user-ranges.ts'],
  },
  {
    place: 'platform',
    group: '',
    resources: ['configmaps'],
    names: ['sekisho-node-status'],
    verbs: ['create', 'patch'],
    usedBy: ['src/services/node-check/node-check.ts'],
  },
  {
    place: 'platform',
    group: '',
    resources: ['configmaps'],
    names: [appSecretsKeyMap.name],
    verbs: ['create', 'patch'],
    usedBy: ['src/services/app-secret-keys/open.ts'],
  },
  {
    place: 'platform',
    group: '',
    resources: ['secrets'],
    names: appKeySecrets,
    verbs: ['get'],
    usedBy: ['src/services/platform-secrets.ts'],
  },
  {
    place: 'platform',
    group: '',
    resources: ['secrets'],
    names: [registrySecrets.platform],
    verbs: ['get', 'create', 'patch'],
    usedBy: ['src/services/registry/open.ts'],
  },
  // No right to create or delete them: whoever installs makes them. The leader renews the certificates in them.
  {
    place: 'platform',
    group: '',
    resources: ['secrets'],
    names: [admissionWebhook.secret, authorizerNames.secret],
    verbs: ['get', 'patch'],
    usedBy: ['src/services/webhook-certificate/renewal.ts'],
  },
  {
    place: 'platform',
    group: `github.${domain}`,
    resources: ['halts'],
    verbs: ['patch', 'delete'],
    usedBy: ['src/controllers/halt/reconcile.ts'],
  },
  {
    place: 'platform',
    group: `github.${domain}`,
    resources: ['halts/status'],
    verbs: ['patch'],
    usedBy: [controllerOf('halt')],
  },
  // Events about the Halts of platform admins, and about walls.
  { place: 'platform', group: '', resources: ['events'], verbs: ['create'], usedBy: [events] },
  {
    place: 'platform',
    group: '',
    resources: ['events'],
    verbs: ['patch'],
    usedBy: [events],
    unseen: 'counts an equal Event: no suite makes a Halt of a platform admin say the same twice',
  },
  {
    place: 'platform',
    group: 'discovery.k8s.io',
    resources: ['endpointslices'],
    names: ['sekisho-source'],
    verbs: ['get', 'create', 'patch'],
    usedBy: ['src/services/builds/source-endpoint.ts'],
  },
]
