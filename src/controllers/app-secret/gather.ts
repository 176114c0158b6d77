// What must be known about an AppSecret: its values, opened with the platform's keys, and the Secret that holds them for pods.
// The Secret is read from the API server, because nobody may list Secrets. Never writes. The values stay SecretStrings.
import { type AppSecret, appSecretBounds } from '../../api/apps/app-secret.ts'
import { type Secret, secrets } from '../../api/builtin/index.ts'
import { appSecretSecretName } from '../../api/names.ts'
import type { SecretKeys } from '../../identity/sealed-values/secret-keys.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import type { SecretString } from '../../lib/secret-string.ts'
import { compareText } from '../../lib/text/compare-text.ts'

/** One value of the spec. */
export type OpenedValue = {
  readonly key: string
  /** Undefined when it cannot be opened. */
  readonly value: SecretString | undefined
  /** Whether it is sealed to the key that is in use now. */
  readonly isCurrent: boolean
}

export type Facts = {
  readonly appSecret: AppSecret
  /** Sorted by key. */
  readonly values: readonly OpenedValue[]
  /** The Secret of the name that the platform needs, whoever made it. */
  readonly secret: Secret | undefined
}

export type GatherDeps = { readonly client: Pick<KubeClient, 'get'>; readonly keys: SecretKeys }

/** Rejects when the API server cannot be reached. */
export async function gather({ client, keys }: GatherDeps, appSecret: AppSecret): Promise<Facts> {
  const { namespace = '', name } = appSecret.metadata
  const sealed = Object.entries(appSecret.spec.sealed).sort(([a], [b]) => compareText(a, b))
  const values = await Promise.all(
    sealed.map(async ([key, text]) => {
      const opened = await keys.open(text, { namespace, name, key })
      return { key, value: isAcceptable(opened?.value) ? opened?.value : undefined, isCurrent: opened?.isCurrent === true }
    }),
  )
  return { appSecret, values, secret: await client.get(secrets, { namespace, name: appSecretSecretName(name) }) }
}

/** A person can seal a longer value than admission does. */
function isAcceptable(value: SecretString | undefined): boolean {
  return value !== undefined && Buffer.byteLength(value.reveal()) <= appSecretBounds.valueBytes
}
