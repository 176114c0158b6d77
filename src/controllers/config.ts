// The settings of the controllers: one table, read once. All missing and invalid variables are reported together, by name.
import { type Environment, integerSetting, portSetting, readSettings, textSetting, urlSetting } from '../lib/config.ts'
import { networkSettings } from './tenant/index.ts'

export const controllersSettings = {
  dataFolder: textSetting('SEKISHO_DATA_FOLDER', 'a folder of this process for fetched sources and the embedded database', {
    default: '/var/lib/sekisho',
  }),
  registry: textSetting(
    'SEKISHO_REGISTRY',
    'the registry and path that builds push images to, such as registry.example.com/apps',
  ),
  clusterBuilder: textSetting('SEKISHO_CLUSTER_BUILDER', 'the kpack ClusterBuilder', { default: 'sekisho' }),
  ingressClass: textSetting('SEKISHO_INGRESS_CLASS', 'the ingress class of Applications'),
  applicationUrl: urlSetting(
    'SEKISHO_APPLICATION_URL',
    'the URL of the ingress, such as https://apps.example.com; an Application is reachable at <name>.<namespace>.<host of this URL>',
  ),
  sourceUrl: urlSetting('SEKISHO_SOURCE_URL', 'the URL by which build pods reach the source store', {
    default: 'http://sekisho-source.sekisho-system.svc:8081',
  }),
  sourcePort: portSetting('SEKISHO_SOURCE_PORT', 'the port of the source store', { default: '8081' }),
  tokenDeskPort: portSetting('SEKISHO_TOKEN_DESK_PORT', 'the port of the token desk', { default: '8444' }),
  tokenDeskHost: textSetting('SEKISHO_TOKEN_DESK_HOST', 'the host name by which workloads reach the token desk', {
    default: 'sekisho-token-desk.sekisho-system.svc',
  }),
  platformBuilds: integerSetting('SEKISHO_PLATFORM_BUILDS', 'builds that may run at once on the whole platform', {
    minimum: 1,
    maximum: 1000,
    default: '4',
  }),
  sweepSeconds: integerSetting(
    'SEKISHO_SWEEP_SECONDS',
    'the longest time in seconds between two checks of a RemoteSync on GitHub when no webhook arrives',
    {
      minimum: 30,
      maximum: 86_400,
      default: '300',
    },
  ),
  redeliverySeconds: integerSetting(
    'SEKISHO_REDELIVERY_SECONDS',
    'the seconds between two searches for webhooks that GitHub could not deliver',
    { minimum: 10, maximum: 86_400, default: '300' },
  ),
  ...networkSettings,
  sourceMegabytes: integerSetting('SEKISHO_SOURCE_MEGABYTES', 'the maximum size of one fetched commit in MiB', {
    minimum: 1,
    maximum: 10_000,
    default: '500',
  }),
}

export type ControllersSettings = ReturnType<typeof readControllersSettings>

/** Throws `invalid_configuration` that names every variable at fault. */
export function readControllersSettings(environment: Environment) {
  return readSettings(controllersSettings, environment)
}
