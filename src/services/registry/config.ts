// The settings of the image registry and of its token server.
import {
  choiceSetting,
  listSetting,
  matching,
  optional,
  portSetting,
  type SettingsOf,
  secretSetting,
  textSetting,
} from '../../lib/config.ts'

export const registrySettings = {
  registry: textSetting(
    'SEKISHO_REGISTRY',
    'the registry and path that builds push images to, such as registry.example.com/apps',
  ),
  registryAuthentication: choiceSetting(
    'SEKISHO_REGISTRY_AUTHENTICATION',
    'who issues credentials for the registry: token-server (the platform, for a registry with token authentication), secret (the registry has accounts of its own, in Secrets that an admin makes for each tenant), or none (every client may read and replace the images of all tenants)',
    ['token-server', 'secret', 'none'],
  ),
  registryAliases: listSetting(
    'SEKISHO_REGISTRY_ALIASES',
    'other names of the host of the registry, separated by commas, by which a tenant could name images of another tenant',
    matching(/^[A-Za-z0-9.[\]:-]{1,255}$/, 'hosts such as registry.internal:5000'),
  ),
  registryPlatformPaths: listSetting(
    'SEKISHO_REGISTRY_PLATFORM_PATHS',
    'paths in the registry, separated by commas, with images that builds may pull and kpack may push: builder, stack and buildpacks (token-server only)',
    matching(/^[a-z0-9]+([._/-]+[a-z0-9]+)*$/, 'paths such as cnb'),
    { default: 'cnb,kpack' },
  ),
  registryService: textSetting('SEKISHO_REGISTRY_SERVICE', '`auth.token.service` of the registry (token-server only)', {
    default: 'sekisho-registry',
  }),
  registryAuthorityCertificate: optional(
    textSetting(
      'SEKISHO_REGISTRY_AUTHORITY_CERTIFICATE',
      'the PEM certificate of the authority that the registry trusts, the same as in `auth.token.rootcertbundle` of the registry (token-server only)',
    ),
  ),
  registryAuthorityKey: optional(
    secretSetting('SEKISHO_REGISTRY_AUTHORITY_KEY', 'the PKCS #8 PEM key of that authority, EC P-256 (token-server only)'),
  ),
  registryTokenPort: portSetting('SEKISHO_REGISTRY_TOKEN_PORT', 'the port of the token server of the registry', {
    default: '8445',
  }),
  registryTokenCertificatePath: textSetting(
    'SEKISHO_REGISTRY_TOKEN_CERTIFICATE_PATH',
    'a PEM file with the serving certificate of the token server, which nodes, builds and kpack must trust; reloaded when it changes',
    { default: '/etc/sekisho/tls/tls.crt' },
  ),
  registryTokenKeyPath: textSetting('SEKISHO_REGISTRY_TOKEN_KEY_PATH', 'a PEM file with the key of that certificate', {
    default: '/etc/sekisho/tls/tls.key',
  }),
}

export type RegistrySettings = SettingsOf<typeof registrySettings>
