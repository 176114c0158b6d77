// The values of AppSecrets for one build: a Secret in the tenant's build namespace, where tenants have no roles, while the
// build lives. The values come from the Secrets that the AppSecret controller keeps; no value is logged, and none is in an
// error. A builder calls `provide` when its build exists and names the build as the owner, so that the Secret ends with it
// whatever happens to us: the pod waits for a Secret that it mounts. It calls `remove` when the build has ended.
import { appSecret } from '../../api/apps/app-secret.ts'
import { secrets } from '../../api/builtin/index.ts'
import { appSecretSecretName, buildSecretPrefix, labels } from '../../api/names.ts'
import type { OwnerReference } from '../../api/resource.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import { controllingKey } from '../../kube/object/owner.ts'
import type { BuildKey } from './builder.ts'

/** The name of the Secret of a build. */
export function buildSecretName(build: string): string {
  return `${buildSecretPrefix}${build}`
}

export type BuildSecretsRequest = {
  /** The build, in its build namespace. */
  readonly key: BuildKey
  /** The tenant's namespace, in which the AppSecrets are. */
  readonly namespace: string
  /** The AppSecrets, in the order of the spec: of equal keys the later one counts, as in `envFrom`. */
  readonly names: readonly string[]
  /** The object of the build, with which the Secret is deleted. */
  readonly owner: OwnerReference
  /** What the builder needs beside the values, such as `type` of a service binding. Nothing secret. */
  readonly entries?: Readonly<Record<string, string>>
}

export type ProvidedSecrets =
  /** `keys`: the names of the values, without `entries`. */
  | { readonly kind: 'provided'; readonly secretName: string; readonly keys: readonly string[] }
  /** Nothing was written. The message names the AppSecret and the cure. */
  | { readonly kind: 'missing'; readonly message: string }

/** Both functions throw KubeError where a retry may help. */
export type BuildSecrets = {
  /** Idempotent: a second call brings the Secret up to date. */
  readonly provide: (request: BuildSecretsRequest) => Promise<ProvidedSecrets>
  /** A Secret that does not exist is a success. */
  readonly remove: (key: BuildKey) => Promise<void>
}

const fieldManager = 'sekisho.dev/build-secrets'

/** `client` refuses writes while this process does not lead. */
export function createBuildSecrets({ client }: { readonly client: Pick<KubeClient, 'get' | 'apply' | 'delete'> }): BuildSecrets {
  async function dataOf(namespace: string, name: string): Promise<Readonly<Record<string, string>> | undefined> {
    const found = await client.get(secrets, { namespace, name: appSecretSecretName(name) })
    // Nobody but the platform can make a Secret of this name; one from before the platform is not an AppSecret's.
    return found && controllingKey(found, appSecret)?.name === name ? (found.data ?? {}) : undefined
  }

  return {
    async provide({ key, namespace, names, owner, entries = {} }) {
      const data: Record<string, string> = {}
      for (const name of names) {
        const found = await dataOf(namespace, name)
        if (found === undefined) return { kind: 'missing', message: missing(name) }
        Object.assign(data, found)
      }
      const keys = Object.keys(data)
      const plain = Object.entries(entries).map(([entry, text]) => [entry, Buffer.from(text).toString('base64')])
      const { apiVersion, kind } = secrets
      const secretName = buildSecretName(key.name)
      const metadata = {
        namespace: key.namespace,
        name: secretName,
        labels: { [labels.managedBy]: 'sekisho' },
        ownerReferences: [owner],
      }
      const object = { apiVersion, kind, metadata, type: 'Opaque', data: { ...Object.fromEntries(plain), ...data } }
      await client.apply(secrets, object, { fieldManager, force: true })
      return { kind: 'provided', secretName, keys }
    },
    remove: key => client.delete(secrets, { namespace: key.namespace, name: buildSecretName(key.name) }),
  }
}

function missing(name: string): string {
  return `there is no AppSecret ${name} with values: create it by \`sekisho secrets set ${name} <KEY> --no-attach\`, or remove it from spec.build.secrets`
}
