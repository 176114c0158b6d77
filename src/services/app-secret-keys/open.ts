// The keys to which values of AppSecrets are sealed: made in the store, replaced once a year, kept for ever, because old values
// stay sealed to them until they are sealed again. The leader writes the public key of the newest into a ConfigMap, from which
// admission gets it. No private key leaves this process.
import { type ConfigMap, configMaps } from '../../api/builtin/index.ts'
import { appSecretsKeyMap, platformNamespace } from '../../api/names.ts'
import { claimedKeyId, makeOpeningKey, type OpeningKey, openingKeyOf } from '../../identity/sealed-values/open.ts'
import { type SealValue, sealerOf } from '../../identity/sealed-values/seal.ts'
import type { SecretKeys } from '../../identity/sealed-values/secret-keys.ts'
import { elapsed } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { periodic } from '../../lib/periodic.ts'
import type { ServiceDeps } from '../deps.ts'
import type { Part } from '../part.ts'

/** It keeps the newest key published while this process leads. */
export type OpenAppSecrets = Part & {
  readonly keys: SecretKeys
  /** The newest one, as `sealerOf` takes it. */
  readonly publicKey: () => string
}

type Deps = Pick<ServiceDeps<never>, 'store' | 'manager' | 'clock' | 'log'> & {
  /** The generation that must exist at least; raised to replace the key before its time. */
  readonly generation: number
}

const fieldManager = 'sekisho.dev/app-secrets-key'
const lifeMilliseconds = 365 * 86_400_000
const publishMilliseconds = 5000
/**
 * A value that names an unknown key makes this process look into the store again, at most this often: a tenant can write any
 * name.
 */
const reloadMilliseconds = 5000

/** The name of the platform key of a generation. */
export function appSecretsKeyName(generation: number): string {
  return `app-secrets-key-${generation}`
}

// Memory (keys for values of AppSecrets): id → opened private key
//   life: the process
//   bound: one a year
//   freshness: a value that names an unknown key makes it look into the store, at most every 5 s
//   replicas: in the store; only the leader publishes
/** Call before the manager starts: it adds a cache. Rejects when a key in the store cannot be opened. */
export async function openAppSecrets(deps: Deps): Promise<OpenAppSecrets> {
  const { manager, clock, log } = deps
  const published = manager.cache(configMaps, { namespace: platformNamespace })
  let keyring = await currentKeyring(deps)
  let loadedAt = elapsed(clock)

  /** With the key of this id, where the store has it by now. */
  async function keyringWith(id: string | undefined): Promise<Keyring> {
    if (keyring.keys.some(key => key.id === id) || elapsed(clock) - loadedAt < reloadMilliseconds) return keyring
    loadedAt = elapsed(clock)
    keyring = await currentKeyring(deps)
    return keyring
  }

  async function publish(): Promise<void> {
    if (isDue(keyring, deps)) keyring = await currentKeyring(deps)
    const data = { [appSecretsKeyMap.field]: keyring.newest.publicKey }
    const present: ConfigMap | undefined = published.get({ namespace: platformNamespace, name: appSecretsKeyMap.name })
    if (present?.data?.[appSecretsKeyMap.field] === data[appSecretsKeyMap.field]) return
    const { apiVersion, kind } = configMaps
    const metadata = { namespace: platformNamespace, name: appSecretsKeyMap.name }
    await manager.client.apply(configMaps, { apiVersion, kind, metadata, data }, { fieldManager, force: true })
    log.info({ key: keyring.newest.id }, 'the key for values of AppSecrets is published')
  }

  return {
    keys: {
      async open(sealed, place) {
        const id = claimedKeyId(sealed)
        const { keys, newest } = await keyringWith(id)
        const value = await keys.find(key => key.id === id)?.open(sealed, place)
        return value && { value, isCurrent: id === newest.id }
      },
      seal: async (value, place) => (await keyring.seal)(value, place),
    },
    publicKey: () => keyring.newest.publicKey,
    ...periodic({
      name: 'key for values of AppSecrets',
      everyMilliseconds: publishMilliseconds,
      enabled: manager.isLeader,
      work: publish,
      clock,
      log,
    }),
  }
}

type Keyring = { readonly keys: readonly OpeningKey[]; readonly newest: OpeningKey; readonly seal: Promise<SealValue> }

function isDue({ keys, newest }: Keyring, { generation, clock }: Deps): boolean {
  return keys.length < generation || clock.now().getTime() - newest.madeAt.getTime() >= lifeMilliseconds
}

/** All that are stored, with those that are due. Replicas that create one at once get the same. */
async function currentKeyring(deps: Deps): Promise<Keyring> {
  const { store, clock, log } = deps
  const keys: OpeningKey[] = []
  for (;;) {
    const name = appSecretsKeyName(keys.length + 1)
    const stored = await store.keys.find(name)
    const known = keys.length === 0 ? undefined : keyringOf(keys)
    if (stored === undefined && known !== undefined && !isDue(known, deps)) return known
    if (stored === undefined) log.info({ name }, 'a key for values of AppSecrets is made')
    keys.push(await openingKeyOf(stored ?? (await store.keys.getOrCreate(name, () => makeOpeningKey(clock.now())))))
  }
}

function keyringOf(keys: readonly OpeningKey[]): Keyring {
  const newest = keys.at(-1)
  if (newest === undefined) throw new AppError('internal', 'there is no key for values of AppSecrets')
  return { keys: [...keys], newest, seal: sealerOf(newest.publicKey) }
}
