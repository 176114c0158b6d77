// The settings of the git proxy; its host name is with those of the token desk, whose certificate it shares.
import { portSetting } from '../../lib/config.ts'

export const gitProxySettings = {
  gitProxyPort: portSetting('SEKISHO_GIT_PROXY_PORT', 'the port of the git proxy', { default: '8448' }),
} as const

export type GitProxySettings = { readonly gitProxyPort: number }
