// Opens what the image registry needs, by the mode of the installation: the token server and kpack's credential, or the Secrets of an admin, or
// nothing. It also reads images, by which a commit is proven. It holds no App key and no token of GitHub.
import { Registry } from 'prom-client'
import { secrets } from '../../api/builtin/index.ts'
import { platformNamespace, registrySecrets } from '../../api/names.ts'
import { tenant as tenants } from '../../api/tenancy/tenant.ts'
import { AppError } from '../../lib/errors.ts'
import { periodic } from '../../lib/periodic.ts'
import { isDisjoint, type RegistryLayout } from '../../registry/access.ts'
import { dockerConfig } from '../../registry/credentials.ts'
import { type ImageLabels, readImageLabels } from '../../registry/image-labels.ts'
import { placeOfImage, type RegistryPlace, splitRegistry } from '../../registry/image-place.ts'
import { openTokenServer, type TokenServer } from '../../registry/open-token-server.ts'
import { createRegistryMetrics } from '../../registry/refusals.ts'
import { createRegistryReader, type ReaderAuthorization } from '../../registry/registry-reader.ts'
import {
  accountIn,
  credentialTenant,
  derivedTenantRegistry,
  givenTenantRegistry,
  openRegistry as registryOfAnybody,
  secretData,
  type TenantRegistry,
} from '../../registry/tenant-registry.ts'
import { listen } from '../../web/server.ts'
import { certificateFromFiles } from '../../web/tls.ts'
import type { ControllersDeps } from '../app-deps.ts'
import { tenantsByNamespace } from '../tenants-by-namespace.ts'

export type OpenRegistry = {
  readonly tenants: TenantRegistry
  readonly place: RegistryPlace
  /** The Secret that pods pull with; undefined when the registry asks for no credential. */
  readonly pullSecret: string | undefined
  /** The port of the token server, which builds must reach; undefined without one. */
  readonly tokenPort: number | undefined
  /** The labels of an image of the registry, by digest. Never rejects. */
  readonly labelsOf: (image: string) => Promise<ImageLabels>
  /** Resolves when the token server listens, if there is one. */
  readonly start: () => Promise<void>
  /** May be called before `start`. */
  readonly stop: () => Promise<void>
}

const platformSecretMilliseconds = 5_000
const fieldManager = 'sekisho.dev/registry'

type Mode = Pick<OpenRegistry, 'tenants' | 'tokenPort' | 'start' | 'stop'> & { readonly authorization: ReaderAuthorization }

/** Call before the manager starts: it adds caches. Throws `invalid_configuration` when settings of the mode are missing. */
export async function openRegistry(deps: ControllersDeps): Promise<OpenRegistry> {
  const { settings, log } = deps
  const place = { registry: settings.registry, aliases: settings.registryAliases }
  const { host } = splitRegistry(settings.registry)
  const mode = await openMode(deps, host)
  const reader = createRegistryReader(host, mode.authorization)
  if (settings.registryAuthentication === 'none')
    log.error(
      { registry: settings.registry },
      'SEKISHO_REGISTRY_AUTHENTICATION is none: every tenant can read, replace and delete the images of all tenants',
    )
  return {
    place,
    tenants: mode.tenants,
    tokenPort: mode.tokenPort,
    pullSecret: settings.registryAuthentication === 'none' ? undefined : registrySecrets.pull,
    async labelsOf(image) {
      if (image.startsWith(`${host}/`)) return readImageLabels(reader.read, image)
      return { kind: 'unreadable', message: `it is not in the registry ${host}`, permanent: true }
    },
    start: mode.start,
    async stop() {
      await Promise.all([mode.stop(), reader.close()])
    },
  }
}

function openMode(deps: ControllersDeps, host: string): Promise<Mode> {
  switch (deps.settings.registryAuthentication) {
    case 'token-server':
      return openWithTokenServer(deps, host)
    case 'secret':
      return openWithSecrets(deps, host)
    case 'none':
      return Promise.resolve({
        tenants: registryOfAnybody,
        authorization: {},
        tokenPort: undefined,
        start: async () => {},
        stop: async () => {},
      })
  }
}

async function openWithSecrets({ settings, manager }: ControllersDeps, host: string): Promise<Mode> {
  const found = manager.cache(secrets, { namespace: platformNamespace })
  const given = givenTenantRegistry(name => found.get({ namespace: platformNamespace, name }))
  const tenantsIn = tenantsByNamespace(manager.cache(tenants))
  return {
    tenants: given,
    authorization: {
      async credentialFor(repository) {
        const place = placeOfImage(`${host}/${repository}`, { registry: settings.registry, aliases: [] })
        const [owner] = place.kind === 'tenant' ? tenantsIn(place.namespace) : []
        const credentials = owner && given.credentialsOf(owner)
        return credentials?.kind === 'credentials' ? accountIn(credentials.build, host) : undefined
      },
    },
    tokenPort: undefined,
    start: async () => {},
    stop: async () => {},
  }
}

async function openWithTokenServer(deps: ControllersDeps, host: string): Promise<Mode> {
  const { settings, store, manager, clock, log, metrics = new Registry() } = deps
  const tenantsIn = tenantsByNamespace(manager.cache(tenants))
  const certificate = certificateFromFiles(
    { certificatePath: settings.registryTokenCertificatePath, privateKeyPath: settings.registryTokenKeyPath },
    { log },
  )
  const tokenServer = await openTokenServer({
    keys: store.keys,
    authority: authorityOf(settings),
    certificate,
    layout: layoutOf(settings),
    service: settings.registryService,
    tenantsOf: namespace =>
      tenantsIn(namespace)
        .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
        .map(credentialTenant),
    count: createRegistryMetrics(metrics),
    clock,
    log,
  })
  const { credentials, issue, server, renewal } = tokenServer
  const platformSecret = keepPlatformSecret(deps, tokenServer, host)
  return {
    tenants: derivedTenantRegistry(host, credentials),
    authorization: {
      async tokenFor(repository) {
        return (await issue('platform', [{ type: 'repository', name: repository, actions: ['pull'] }])).token
      },
    },
    tokenPort: settings.registryTokenPort,
    async start() {
      await listen(server, { host: '0.0.0.0', port: settings.registryTokenPort })
      log.info({ port: settings.registryTokenPort }, 'token server of the registry listening')
      renewal.start()
      platformSecret.start()
    },
    async stop() {
      certificate.stop()
      await Promise.all([server.close(), renewal.stop(), platformSecret.stop()])
    },
  }
}

function authorityOf({ registryAuthorityCertificate, registryAuthorityKey }: ControllersDeps['settings']) {
  if (registryAuthorityCertificate !== undefined && registryAuthorityKey !== undefined)
    return { certificatePem: registryAuthorityCertificate, privateKeyPem: registryAuthorityKey }
  throw new AppError(
    'invalid_configuration',
    'SEKISHO_REGISTRY_AUTHENTICATION is token-server: set SEKISHO_REGISTRY_AUTHORITY_CERTIFICATE and SEKISHO_REGISTRY_AUTHORITY_KEY',
  )
}

function layoutOf({ registry, registryPlatformPaths }: ControllersDeps['settings']): RegistryLayout {
  const layout = { tenants: splitRegistry(registry).path, platform: registryPlatformPaths }
  if (isDisjoint(layout)) return layout
  throw new AppError(
    'invalid_configuration',
    'SEKISHO_REGISTRY must have a path of its own, such as registry.example.com/apps, beside those in SEKISHO_REGISTRY_PLATFORM_PATHS: otherwise the namespace of a tenant could be the path of the platform',
  )
}

/** Keeps the Secret by which kpack pulls and pushes the platform's images: `sekisho-registry-platform` in the platform's namespace. */
function keepPlatformSecret({ manager, clock, log }: ControllersDeps, { credentials }: TokenServer, host: string) {
  const name = registrySecrets.platform
  const found = manager.cache(secrets, { namespace: platformNamespace })
  return periodic({
    name: 'registry credential of the platform',
    everyMilliseconds: platformSecretMilliseconds,
    enabled: () => manager.isLeader() && found.synced(),
    async work() {
      const data = secretData(dockerConfig(host, credentials.ofPlatform()))
      const present = found.get({ namespace: platformNamespace, name })?.data ?? {}
      if (Object.entries(data).every(([key, value]) => present[key] === value)) return
      const { apiVersion, kind } = secrets
      const metadata = { name, namespace: platformNamespace }
      const secret = { apiVersion, kind, metadata, type: 'kubernetes.io/dockerconfigjson', data }
      await manager.client.apply(secrets, secret, { fieldManager, force: true })
    },
    clock,
    log,
  })
}
