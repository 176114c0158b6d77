// The broker's settings: one table, read once; everything missing or wrong is reported at once, by variable. The App's host,
// client id and addresses are not here: they come from the ClusterGitHubApp object.
import {
  choiceSetting,
  type Environment,
  integerSetting,
  optional,
  portSetting,
  readSettings,
  type Setting,
  secretSetting,
  textSetting,
  urlSetting,
} from '../lib/config.ts'
import { AppError } from '../lib/errors.ts'
import { addressListSetting } from '../web/clients/address-list.ts'
import { bucketOf, bucketSettings } from './audit/places/bucket-settings.ts'
import { type ListedAccounts, parseAccounts } from './onboarding/approval/accounts.ts'

/** People's tokens and cookies are sent there: never over plain http. */
function httpsSetting(variable: string, description: string): Setting<URL> {
  const plain = urlSetting(variable, description)
  const parse = (text: string): URL => {
    const url = plain.parse(text)
    if (url.protocol === 'https:') return url
    throw new Error('must be an https URL: tokens and cookies are sent there')
  }
  return { ...plain, parse }
}

function publicUrlSetting(variable: string, description: string): Setting<URL> {
  const secure = httpsSetting(variable, description)
  const parse = (text: string): URL => {
    const url = secure.parse(text)
    if (url.pathname !== '/' || url.search !== '' || url.hash !== '') throw new Error('must have no path, query or fragment')
    return url
  }
  return { ...secure, parse }
}

/** Which accounts may be onboarded without a platform admin. */
function accountsSetting(variable: string, description: string): Setting<ListedAccounts> {
  return { name: variable, description, kind: 'list', default: '', parse: parseAccounts }
}

export const brokerSettings = {
  publicUrl: publicUrlSetting(
    'SEKISHO_PUBLIC_URL',
    'where people and API servers reach the broker, such as https://sekisho.example.com',
  ),
  githubApp: textSetting('SEKISHO_GITHUB_APP', 'the name of the ClusterGitHubApp people sign in with', { default: 'default' }),
  clientSecret: secretSetting('SEKISHO_GITHUB_CLIENT_SECRET', 'a client secret of the GitHub App'),
  webhookSecret: secretSetting('SEKISHO_GITHUB_WEBHOOK_SECRET', 'the webhook secret of the GitHub App'),
  formerWebhookSecret: optional(
    secretSetting('SEKISHO_GITHUB_FORMER_WEBHOOK_SECRET', 'the webhook secret from before a rotation, while both are in use'),
  ),
  address: textSetting('SEKISHO_BROKER_ADDRESS', 'the address to listen on', { default: '0.0.0.0' }),
  port: portSetting('SEKISHO_BROKER_PORT', 'the port to listen on', { default: '8443' }),
  trustedProxies: addressListSetting(
    'SEKISHO_TRUSTED_PROXIES',
    'addresses or CIDRs of the proxies in front of the broker, separated by commas: only they may name the address of a client, by X-Forwarded-For or the PROXY protocol; every hop must be in the list',
  ),
  proxyProtocol: choiceSetting(
    'SEKISHO_PROXY_PROTOCOL',
    'required: every connection must come from one of SEKISHO_TRUSTED_PROXIES and begin with a PROXY protocol header (version 1 or 2); all others are closed',
    ['off', 'required'],
    { default: 'off' },
  ),
  certificatePath: textSetting(
    'SEKISHO_TLS_CERTIFICATE_PATH',
    'a PEM file with the serving certificate and its chain; reloaded when it changes',
  ),
  privateKeyPath: textSetting('SEKISHO_TLS_KEY_PATH', 'a PEM file with the key of the serving certificate'),
  accounts: accountsSetting(
    'SEKISHO_ACCOUNTS',
    'numeric ids of the GitHub accounts (organisations and users) that their owners may onboard, separated by commas, or `any`; every other account waits for a platform admin',
  ),
  apiServerUrl: optional(
    httpsSetting('SEKISHO_API_SERVER_URL', 'where people reach the Kubernetes API server; read by sekisho kubeconfig'),
  ),
  apiServerAuthorityPath: optional(textSetting('SEKISHO_API_SERVER_CA_PATH', 'a PEM file with the CA of that API server')),
  auditCheckpointSeconds: integerSetting(
    'SEKISHO_AUDIT_CHECKPOINT_SECONDS',
    'seconds between two signed heads of the audit log outside the database',
    { minimum: 5, maximum: 86_400, default: '60' },
  ),
  auditCheckpointFolder: optional(
    textSetting(
      'SEKISHO_AUDIT_CHECKPOINT_FOLDER',
      'a folder for signed heads of the audit log, beside the ConfigMap: a volume that whoever administers the database cannot write',
    ),
  ),
  ...bucketSettings,
  sessionHours: integerSetting('SEKISHO_SESSION_HOURS', 'how many hours a person stays signed in on the pages', {
    minimum: 1,
    maximum: 72,
    default: '12',
  }),
}

export type BrokerSettings = ReturnType<typeof readBrokerSettings>

/** Throws `invalid_configuration` that names every variable at fault. */
export function readBrokerSettings(environment: Environment) {
  const settings = readSettings(brokerSettings, environment)
  if (settings.proxyProtocol === 'required' && settings.trustedProxies.isEmpty)
    throw new AppError(
      'invalid_configuration',
      'configuration is not usable:\n- SEKISHO_TRUSTED_PROXIES is empty, but SEKISHO_PROXY_PROTOCOL is required: name the addresses of the proxies; without them all connections are refused',
    )
  return Object.freeze({ ...settings, auditBucket: bucketOf(settings) })
}
