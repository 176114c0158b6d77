// The settings of the token desk.
import { integerSetting, portSetting, type SettingsOf, textSetting } from '../../lib/config.ts'

export const tokenDeskSettings = {
  tokenDeskPort: portSetting('SEKISHO_TOKEN_DESK_PORT', 'the port of the token desk', { default: '8444' }),
  tokenDeskHost: textSetting('SEKISHO_TOKEN_DESK_HOST', 'the host name by which workloads reach the token desk', {
    default: 'sekisho-token-desk.sekisho-system.svc',
  }),
  gitProxyHost: textSetting('SEKISHO_GIT_PROXY_HOST', 'the host name by which workloads reach the git proxy', {
    default: 'sekisho-git-proxy.sekisho-system.svc',
  }),
  tokenDeskAuthorityGeneration: integerSetting(
    'SEKISHO_TOKEN_DESK_AUTHORITY_GENERATION',
    'raise it by one to replace the authority of the token desk before its time (docs/guide/keys.md)',
    { minimum: 1, maximum: 10_000, default: '1' },
  ),
  tokenDeskAuthorityOverlapHours: integerSetting(
    'SEKISHO_TOKEN_DESK_AUTHORITY_OVERLAP_HOURS',
    'how long workloads are given a new authority of the token desk before it is used; pods that read it only at their start must restart meanwhile',
    { minimum: 1, maximum: 2160, default: '720' },
  ),
  redeliverySeconds: integerSetting(
    'SEKISHO_REDELIVERY_SECONDS',
    'the seconds between two searches for webhooks that GitHub could not deliver',
    { minimum: 10, maximum: 86_400, default: '300' },
  ),
}

export type TokenDeskSettings = SettingsOf<typeof tokenDeskSettings>
