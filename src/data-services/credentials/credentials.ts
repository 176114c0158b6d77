// The credentials of one ServiceBinding on its server, two at most: how one is made, tried and ended, and what the Secret says of
// it. The controller of ServiceBindings knows nothing else of a server.

import type { Plan } from '../../api/services/offer.ts'
import type { ServiceType } from '../../api/services/provider.ts'
import type { SecretString } from '../../lib/secret-string.ts'
import type { SlotName } from '../adapters/postgresql/identifiers.ts'
import type { Judgement } from '../proofs/judge.ts'

/** What the server knows it by and keeps secret, by keys of the Secret: what only the Secret remembers. */
export type Key = Readonly<Record<string, SecretString>>

/** The values of the Secret. */
export type Values = Readonly<Record<string, string | SecretString>>

/**
 * `live`: the slots that the server has a credential for. `idle`: those of them that certainly nobody uses; undefined where that
 * can never be told.
 */
export type Seen = { readonly live: ReadonlySet<SlotName>; readonly idle: ReadonlySet<SlotName> | undefined }

export type Made = {
  readonly key: Key
  /** Tries what it must be able to do, and what it must not. Leaves nothing behind. */
  readonly prove: () => Promise<Judgement>
}

/** Everything rejects with what the server's adapter rejects with (`troubleOf`). */
export type Credentials = {
  readonly type: ServiceType
  readonly look: () => Promise<Seen>
  /** Whether the platform closed the credential of a slot that is not live, because its sessions took what others need. */
  readonly isClosed: (slot: SlotName) => Promise<boolean>
  /** Makes the credential of a slot; whatever the slot had before ends. */
  readonly make: (slot: SlotName, plan: Plan) => Promise<Made>
  /** Nobody can use it when this resolves. Again it changes nothing. */
  readonly drop: (slot: SlotName) => Promise<void>
  /** For the Secret. */
  readonly valuesOf: (slot: SlotName, key: Key) => Values
}

export const slotNames: readonly SlotName[] = ['a', 'b']
