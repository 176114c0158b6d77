// Opens what the image registry needs, by the mode of the installation: the token server and kpack's credential, or the Secrets
// of an admin, or nothing. It also reads images, by which a commit is proven. It holds no App key and no token of GitHub.
import { Registry } from 'prom-client'
import { secrets } from '../../api/builtin/index.ts'
import type { ReadNamedSecret } from '../../api/named-secret.ts'
import { platformNamespace, registrySecrets } from '../../api/names.ts'
import type { Tenant } from '../../api/tenancy/tenant.ts'
import { AppError } from '../../lib/errors.ts'
import { periodic } from '../../lib/periodic.ts'
import { listen } from '../../web/server.ts'
import { certificateFromFiles } from '../../web/tls.ts'
import type { ServiceDeps } from '../deps.ts'
import { type Part, partOf } from '../part.ts'
import type { RegistrySettings } from './config.ts'
import { dockerConfig } from './credentials.ts'
import { type ImageLabels, keepingLabels, readImageLabels } from './image-labels.ts'
import { placeOfImage, type RegistryPlace, splitRegistry } from './image-place.ts'
import { createRegistryReader, type ManifestRemover, type ReaderAuthorization, type RegistryReader } from './registry-reader.ts'
import { type Tagging, tagImage } from './tag-image.ts'
import {
  accountIn,
  credentialTenant,
  derivedTenantRegistry,
  givenTenantRegistry,
  openRegistry as registryOfAnybody,
  secretData,
  type TenantRegistry,
} from './tenant-registry.ts'
import { isDisjoint, type RegistryLayout } from './token-server/access.ts'
import { createRegistryMetrics } from './token-server/metrics.ts'
import { openTokenServer, type TokenServer } from './token-server/open-token-server.ts'

export type OpenRegistry = Part & {
  readonly tenants: TenantRegistry
  readonly place: RegistryPlace
  /** The Secret that pods pull with; undefined when the registry asks for no credential. */
  readonly pullSecret: string | undefined
  /** The Secret that builds push with, in a build namespace; undefined when the registry asks for no credential. */
  readonly buildSecret: string | undefined
  /** Whether the registry speaks HTTP without TLS. Rejects while it does not answer. */
  readonly plainHttp: () => Promise<boolean>
  /** The port of the token server, which builds must reach; undefined without one. */
  readonly tokenPort: number | undefined
  /** How an image of the registry describes itself, by digest. Never rejects. */
  readonly labelsOf: (image: string) => Promise<ImageLabels>
  /** The same, asked of the registry now: an image may have been deleted. */
  readonly freshLabelsOf: (image: string) => Promise<ImageLabels>
  readonly read: RegistryReader
  readonly remove: ManifestRemover
  /** Gives an image of the registry, named by its digest, one more tag. Never rejects. */
  readonly tag: (image: string, tag: string) => Promise<Tagging>
}

const platformSecretMilliseconds = 5_000
const fieldManager = 'sekisho.dev/registry'

type Deps = ServiceDeps<RegistrySettings> & { readonly tenantsIn: (namespace: string) => readonly Tenant[] }

type Mode = Part & Pick<OpenRegistry, 'tenants' | 'tokenPort'> & { readonly authorization: ReaderAuthorization }

/** Call before the manager starts: it adds caches. Throws `invalid_configuration` when settings of the mode are missing. */
export async function openRegistry(deps: Deps, secretOf: ReadNamedSecret): Promise<OpenRegistry> {
  const { settings, log } = deps
  const place = { registry: settings.registry, aliases: settings.registryAliases }
  const { host } = splitRegistry(settings.registry)
  const mode = await openMode(deps, host, secretOf)
  const reader = createRegistryReader(host, mode.authorization)
  const freshLabelsOf = (image: string) => readImageLabels(reader.read, image)
  const ofThisRegistry = (read: (image: string) => Promise<ImageLabels>) => (image: string) => {
    if (image.startsWith(`${host}/`)) return read(image)
    return Promise.resolve({ kind: 'unreadable', message: `it is not in the registry ${host}`, permanent: true } as const)
  }
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
    buildSecret: settings.registryAuthentication === 'none' ? undefined : registrySecrets.build,
    plainHttp: reader.plainHttp,
    read: reader.read,
    remove: reader.remove,
    async tag(image, tag) {
      if (image.startsWith(`${host}/`)) return tagImage(reader, image, tag)
      return { kind: 'absent', message: `${image} is not in the registry ${host}` }
    },
    labelsOf: ofThisRegistry(keepingLabels(freshLabelsOf)),
    freshLabelsOf: ofThisRegistry(freshLabelsOf),
    start: mode.start,
    async stop() {
      await Promise.all([mode.stop(), reader.close()])
    },
  }
}

function openMode(deps: Deps, host: string, secretOf: ReadNamedSecret): Promise<Mode> {
  switch (deps.settings.registryAuthentication) {
    case 'token-server':
      return openWithTokenServer(deps, host)
    case 'secret':
      return openWithSecrets(deps, host, secretOf)
    case 'none':
      return Promise.resolve({
        tenants: registryOfAnybody,
        authorization: {},
        tokenPort: undefined,
        ...partOf(),
      })
  }
}

async function openWithSecrets({ settings, tenantsIn }: Deps, host: string, secretOf: ReadNamedSecret): Promise<Mode> {
  const given = givenTenantRegistry(secretOf)
  return {
    tenants: given,
    authorization: {
      async credentialFor(repository) {
        const place = placeOfImage(`${host}/${repository}`, { registry: settings.registry, aliases: [] })
        const [owner] = place.kind === 'tenant' ? tenantsIn(place.namespace) : []
        const credentials = owner && (await given.credentialsOf(owner))
        return credentials?.kind === 'credentials' ? accountIn(credentials.build, host) : undefined
      },
    },
    tokenPort: undefined,
    ...partOf(),
  }
}

async function openWithTokenServer(deps: Deps, host: string): Promise<Mode> {
  const { settings, store, tenantsIn, clock, log, metrics = new Registry() } = deps
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
      async tokenFor(repository, actions) {
        return (await issue('platform', [{ type: 'repository', name: repository, actions }])).token
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

function authorityOf({ registryAuthorityCertificate, registryAuthorityKey }: RegistrySettings) {
  if (registryAuthorityCertificate !== undefined && registryAuthorityKey !== undefined)
    return { certificatePem: registryAuthorityCertificate, privateKeyPem: registryAuthorityKey }
  throw new AppError(
    'invalid_configuration',
    'SEKISHO_REGISTRY_AUTHENTICATION is token-server: set SEKISHO_REGISTRY_AUTHORITY_CERTIFICATE and SEKISHO_REGISTRY_AUTHORITY_KEY',
  )
}

function layoutOf({ registry, registryPlatformPaths }: RegistrySettings): RegistryLayout {
  const layout = { tenants: splitRegistry(registry).path, platform: registryPlatformPaths }
  if (isDisjoint(layout)) return layout
  throw new AppError(
    'invalid_configuration',
    'SEKISHO_REGISTRY must have a path of its own, such as registry.example.com/apps, beside those in SEKISHO_REGISTRY_PLATFORM_PATHS: otherwise the namespace of a tenant could be the path of the platform',
  )
}

/**
 * Keeps the Secret by which kpack pulls and pushes the platform's images: `sekisho-registry-platform` in the platform's
 * namespace.
 */
function keepPlatformSecret({ manager, clock, log }: Deps, { credentials }: TokenServer, host: string) {
  const name = registrySecrets.platform
  return periodic({
    name: 'registry credential of the platform',
    everyMilliseconds: platformSecretMilliseconds,
    enabled: manager.isLeader,
    async work() {
      const data = secretData(dockerConfig(host, credentials.ofPlatform()))
      const present = (await manager.client.get(secrets, { namespace: platformNamespace, name }))?.data ?? {}
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
