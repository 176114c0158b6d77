// The controllers' settings: one table, read once; what is missing or wrong is told all at once with the variable's name.
import { type Environment, integerSetting, portSetting, readSettings, textSetting, urlSetting } from '../lib/config.ts'

export const controllersSettings = {
  dataFolder: textSetting('SEKISHO_DATA_FOLDER', 'a folder of this process: fetched sources, and the embedded database', {
    default: '/var/lib/sekisho',
  }),
  registry: textSetting('SEKISHO_REGISTRY', 'where images of builds go, such as registry.example.com/apps'),
  clusterBuilder: textSetting('SEKISHO_CLUSTER_BUILDER', 'the kpack ClusterBuilder', { default: 'sekisho' }),
  ingressClass: textSetting('SEKISHO_INGRESS_CLASS', 'the ingress class of Applications'),
  applicationUrl: urlSetting(
    'SEKISHO_APPLICATION_URL',
    'where people reach the ingress; Applications get <name>.<namespace>.<its host>, such as https://apps.example.com',
  ),
  sourceUrl: urlSetting('SEKISHO_SOURCE_URL', 'where build pods reach the source store', {
    default: 'http://sekisho-source.sekisho-system.svc:8081',
  }),
  sourcePort: portSetting('SEKISHO_SOURCE_PORT', 'the port of the source store', { default: '8081' }),
  tokenDeskPort: portSetting('SEKISHO_TOKEN_DESK_PORT', 'the port of the token desk', { default: '8444' }),
  tokenDeskHost: textSetting('SEKISHO_TOKEN_DESK_HOST', 'the name by which workloads reach the token desk', {
    default: 'sekisho-token-desk.sekisho-system.svc',
  }),
  platformBuilds: integerSetting('SEKISHO_PLATFORM_BUILDS', 'builds that may run at once on the whole platform', {
    minimum: 1,
    maximum: 1000,
    default: '4',
  }),
  sweepSeconds: integerSetting(
    'SEKISHO_SWEEP_SECONDS',
    'how long GitHub may go unasked about a RemoteSync when no webhook comes',
    {
      minimum: 30,
      maximum: 86_400,
      default: '300',
    },
  ),
  redeliverySeconds: integerSetting(
    'SEKISHO_REDELIVERY_SECONDS',
    'how often GitHub is asked for webhooks that it could not deliver',
    { minimum: 10, maximum: 86_400, default: '300' },
  ),
  sourceMegabytes: integerSetting('SEKISHO_SOURCE_MEGABYTES', 'the most that one fetched commit may hold', {
    minimum: 1,
    maximum: 10_000,
    default: '500',
  }),
}

export type ControllersSettings = ReturnType<typeof readControllersSettings>

export function readControllersSettings(environment: Environment) {
  return readSettings(controllersSettings, environment)
}
