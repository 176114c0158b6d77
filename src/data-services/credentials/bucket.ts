// Keys of a bucket as credentials: each slot is a user of the store with one policy and one key.
import { bindingAuthorityKey, bindingPrefixKey, bindingProvider } from '../../api/services/binding-secret.ts'
import type { ServiceBinding } from '../../api/services/service-binding.ts'
import { SecretString } from '../../lib/secret-string.ts'
import type { SlotName } from '../adapters/postgresql/identifiers.ts'
import { cleanProof, observe } from '../adapters/s3/proof.ts'
import { dropUser, ensureUser, issueKey, liveUsers } from '../adapters/s3/users.ts'
import { judgeBucket } from '../proofs/judge-bucket.ts'
import type { OpenStore } from '../providers/provider.ts'
import { type Credentials, slotNames } from './credentials.ts'
import { principalOf } from './principal.ts'

/** `bucket`: its name in the store. */
export function bucketCredentials(opened: OpenStore, binding: ServiceBinding, bucket: string): Credentials {
  const { store, endpoint, region, ca } = opened
  const { access, prefix } = binding.spec
  const userOf = (slot: SlotName): string => principalOf(binding, slot)
  const wantedOf = (slot: SlotName) => ({ user: userOf(slot), bucket, access, prefix })
  return {
    type: 'bucket',
    // A store has no sessions: whether somebody still uses a key cannot be told from it.
    async look() {
      const live = await liveUsers(store, slotNames.map(userOf))
      return { live: new Set(slotNames.filter(slot => live.has(userOf(slot)))), idle: undefined }
    },
    isClosed: async () => false,
    async make(slot) {
      await ensureUser(store, wantedOf(slot))
      const made = await issueKey(store, userOf(slot))
      const key = { 'access-key-id': new SecretString(made.accessKeyId), 'secret-access-key': made.secretAccessKey }
      return { key, prove: async () => judgeBucket({ access, prefix }, await observe(store, made, wantedOf(slot))) }
    },
    async drop(slot) {
      await dropUser(store, userOf(slot))
      await cleanProof(store, wantedOf(slot))
    },
    valuesOf: (_slot, key) => ({
      type: 's3',
      provider: bindingProvider,
      bucket,
      endpoint,
      region,
      ...key,
      uri: `s3://${bucket}/${prefix ?? ''}`,
      ...(prefix !== undefined && { [bindingPrefixKey]: prefix }),
      ...(ca !== undefined && { [bindingAuthorityKey]: ca }),
    }),
  }
}
