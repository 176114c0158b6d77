// What the audit of the log needs of the broker, and what it speaks of. Types only.
import type { AuditCheckpoint } from '../../identity/oidc/audit-checkpoint.ts'
import type { IssuerKeys } from '../../identity/oidc/issuer-keys.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { BrokerStore } from '../../store/store.ts'

export type LossDeps = {
  readonly kube: Pick<KubeClient, 'get' | 'apply' | 'mergePatch'>
  readonly audit: Pick<BrokerStore['audit'], 'head' | 'start' | 'cuts' | 'list' | 'append' | 'appendOnce'>
  readonly keys: Pick<IssuerKeys, 'sign' | 'publicKeys'>
  /** The issuer identifier that statements carry. */
  readonly issuer: string
  readonly clock: Clock
  readonly log: Log
}

/** A checkpoint with the statement that proves it. */
export type ProvenHead = AuditCheckpoint & { readonly statement: string }
