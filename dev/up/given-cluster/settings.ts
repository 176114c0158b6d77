// What `make up` on a cluster of the user's (KUBECONFIG) cannot find out by itself. Nothing is required here: what is missing
// is reported together with what the cluster lacks (decide.ts). docs/reference/environment.md is generated from this table.
import {
  choiceSetting,
  type Environment,
  listSetting,
  optional,
  readSettings,
  type Setting,
  secretSetting,
  textSetting,
  urlSetting,
} from '../../../src/lib/config.ts'
import { AppError } from '../../../src/lib/errors.ts'
import { givenRegistrySettings } from '../../images/registry/given-registry.ts'
import { parsePlatformSettings } from './platform-settings.ts'

export const givenClusterSettings = {
  ...givenRegistrySettings,
  pullSecret: optional(
    textSetting(
      'SEKISHO_UP_PULL_SECRET',
      'the Secret in sekisho-system with which nodes pull the image of the platform, or none where they have a credential of their own',
    ),
  ),
  clusterBuilder: textSetting('SEKISHO_UP_CLUSTER_BUILDER', 'the ClusterBuilder of kpack that builds applications', {
    default: 'sekisho',
  }),
  publicUrl: optional(
    urlSetting(
      'SEKISHO_UP_PUBLIC_URL',
      'the https URL by which people, GitHub and API servers reach the broker, such as https://sekisho.example.com:8443',
    ),
  ),
  expose: optional(
    choiceSetting(
      'SEKISHO_UP_EXPOSE',
      'how the public URL leads to the Service sekisho-broker: by making it a LoadBalancer, or by something of yours (none)',
      ['LoadBalancer', 'none'],
    ),
  ),
  certificate: optional(
    secretSetting(
      'SEKISHO_UP_TLS_CERTIFICATE',
      'the serving certificate of the public URL with its chain, PEM; without it make up signs one with an authority of its own',
    ),
  ),
  certificateKey: optional(secretSetting('SEKISHO_UP_TLS_KEY', 'the key of that certificate, PEM')),
  ingressClass: optional(
    textSetting('SEKISHO_UP_INGRESS_CLASS', 'the ingress class of applications; found where the cluster has one or a default'),
  ),
  ingressFrom: optional(
    textSetting(
      'SEKISHO_UP_INGRESS_FROM',
      'the namespace of the ingress controller, or the address ranges of its hosts when it runs on their network',
    ),
  ),
  applicationUrl: optional(
    urlSetting(
      'SEKISHO_UP_APPLICATION_URL',
      'the URL of the ingress, such as https://apps.example.net, with another registrable domain than the public URL',
    ),
  ),
  storageClass: optional(
    textSetting(
      'SEKISHO_UP_STORAGE_CLASS',
      'the storage class of the embedded database (standalone); found where the cluster has one or a default',
    ),
  ),
  apiServerUrl: optional(
    urlSetting('SEKISHO_UP_API_SERVER_URL', 'where people reach the API server; by default the URL in the kubeconfig'),
  ),
  apiServerFrom: listSetting(
    'SEKISHO_UP_API_SERVER_FROM',
    'the address ranges from which API servers call webhooks; by default the endpoints of the Service kubernetes, which do not fit on many managed clusters',
    cidr,
  ),
  githubAddress: optional(
    textSetting(
      'SEKISHO_UP_GITHUB_ADDRESS',
      'an IPv4 address of this machine that pods of the cluster reach: the GitHub emulator listens there. It has no passwords',
    ),
  ),
  githubApp: optional(
    textSetting('SEKISHO_UP_GITHUB_APP', 'the ClusterGitHubApp of the cluster for real GitHub, instead of the emulator'),
  ),
  githubClientSecret: optional(secretSetting('SEKISHO_UP_GITHUB_CLIENT_SECRET', 'a client secret of that App')),
  githubWebhookSecret: optional(secretSetting('SEKISHO_UP_GITHUB_WEBHOOK_SECRET', 'the webhook secret of that App')),
  accounts: optional(
    textSetting(
      'SEKISHO_UP_ACCOUNTS',
      'numeric ids of the GitHub accounts that their owners may onboard; without it every account waits for a platform admin, with the emulator nobody waits',
    ),
  ),
  databaseOwnerUrl: optional(
    secretSetting(
      'SEKISHO_UP_DATABASE_OWNER_URL',
      'PostgreSQL by the role that owns the database and may create roles (production), such as postgresql://sekisho_owner:…@db.example.com:5432/sekisho?sslmode=verify-full',
    ),
  ),
  databaseAuthority: optional(
    secretSetting(
      'SEKISHO_UP_DATABASE_CA',
      'the authority of the certificate of that PostgreSQL, PEM; not needed when everybody trusts it',
    ),
  ),
  platformSettings: {
    name: 'SEKISHO_UP_PLATFORM_SETTINGS',
    description:
      'further settings of the platform, one NAME=value in each line, such as SEKISHO_REDIRECT_ANNOTATIONS=…; best in a file, with SEKISHO_UP_PLATFORM_SETTINGS_FILE',
    kind: 'text',
    default: '',
    parse: parsePlatformSettings,
  } satisfies Setting<Readonly<Record<string, string>>>,
}

export type GivenClusterSettings = ReturnType<typeof readGivenClusterSettings>

const prefix = 'SEKISHO_UP_'

function cidr(item: string): string {
  if (!/^[0-9a-f.:]+\/\d{1,3}$/i.test(item)) throw new Error(`must list CIDRs such as 10.0.0.0/24, not ${item}`)
  return item
}

/** Refuses also variables that begin as ours and are none, such as misspelled ones. */
export function readGivenClusterSettings(environment: Environment) {
  const values = readSettings(givenClusterSettings, environment)
  const known = new Set(Object.values(givenClusterSettings).flatMap(({ name }) => [name, `${name}_FILE`]))
  const unknown = Object.keys(environment).filter(name => name.startsWith(prefix) && !known.has(name))
  if (unknown.length > 0)
    throw new AppError(
      'invalid_configuration',
      `${unknown.join(', ')}: no such setting; docs/reference/environment.md lists those that begin with ${prefix}`,
    )
  return values
}
