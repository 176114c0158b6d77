// The token desk's records in the audit log: one shape for every step of a token, with ids and permissions and never the token
// itself.
import type { AuditRecord } from '../../../api/audit/audit-event.ts'
import type { RepositoryGrant } from '../../../api/github/repository-grant.ts'
import type { RevocationResult } from '../../../github/index.ts'
import type { JsonValue } from '../../../lib/json/canonical-json.ts'
import { defined } from '../../../lib/json/defined.ts'
import { asObject, textAt } from '../../../lib/json/json-value.ts'
import type { CountedEvent } from '../../../store/audit/counted-audit.ts'
import {
  type EndingToken,
  hashedToken,
  type LiveToken,
  type TokenFacts,
  type TokenIntent,
} from '../../../store/token-registry.ts'
import type { TokenRequest } from '../token-desk.ts'

/** Resolves when the record is durable. */
export type AuditAppend = { readonly append: (record: AuditRecord) => Promise<unknown> }

type Step = Pick<AuditRecord, 'action' | 'outcome' | 'reason'>

/**
 * Whose access a grant is, and what decided it; bounded by its schema. Names stand beside ids: they find what was renamed since.
 */
export function grantFacts({ metadata, spec, status }: RepositoryGrant): TokenFacts {
  const { rule, observedInputs: inputs, repositories = [] } = status ?? {}
  return {
    person: spec.requestedBy,
    ...defined({ login: status?.requester?.login, generation: metadata.generation, rule, inputs }),
    repositories: repositories.map(({ id, name }) => ({ id, fullName: name })),
  }
}

/** As `grantFacts`, and where the request came from. */
export function requestFacts({ from = {}, delivery }: TokenRequest, grant: RepositoryGrant | undefined): TokenFacts {
  const { pod, address, pullRequest } = from
  return { ...(grant && grantFacts(grant)), ...defined({ pod: pod && { ...pod }, address, pullRequest, delivery }) }
}

/** Where the records of a token stand that the platform uses itself: a late end belongs beside its beginning. */
export function platformFacts({ namespace, object }: Pick<AuditRecord, 'namespace' | 'object'>): TokenFacts {
  return { recordedAt: { ...defined({ namespace }), object } }
}

/** What is known of a token, or of the intent to mint one. `tokenId` is the registry's and reveals nothing about the token. */
export function tokenFacts(intent: TokenIntent, tokenId: string): Record<string, JsonValue> {
  const { installation, subject } = intent
  const { recordedAt: _, ...facts } = intent.facts ?? {}
  return {
    ...facts,
    token: tokenId,
    host: installation.host,
    appId: installation.appId,
    installationId: installation.installationId,
    repositoryIds: [...intent.repositoryIds],
    permissions: { ...intent.permissions },
    subject: { kind: subject.kind, name: subject.name, uid: subject.uid },
    grantUid: intent.grantUid,
  }
}

/** The record of one step that a request caused. */
export function requestRecord(request: TokenRequest, step: Step & Pick<AuditRecord, 'details'>): AuditRecord {
  const { name, namespace = '' } = request.grant.metadata
  return { ...step, actor: request.actor, namespace, object: `RepositoryGrant/${namespace}/${name}` }
}

/** The record of a step that the desk takes without a request: sweeping, revoking. */
export function tokenRecord(
  token: TokenIntent & { readonly id: string },
  { details, ...step }: Step & Partial<Pick<AuditRecord, 'details'>>,
): AuditRecord {
  return { ...step, actor: 'sekisho:token-desk', ...placeOf(token), details: { ...tokenFacts(token, token.id), ...details } }
}

function placeOf({ subject, grantName, facts }: TokenIntent): Pick<AuditRecord, 'namespace' | 'object'> {
  const { namespace, name } = subject
  if (grantName !== '') return { namespace, object: `RepositoryGrant/${namespace}/${grantName}` }
  // Rows of before have no such fact.
  const recordedAt = asObject(facts?.['recordedAt'])
  return { namespace: textAt(recordedAt, 'namespace') ?? namespace, object: textAt(recordedAt, 'object') ?? name }
}

/** What GitHub answered to the request to revoke a token. */
export type RevocationAnswer = RevocationResult | 'none'

/** Which token ended, why and since when, and what GitHub answered. */
export function endFacts(
  token: Pick<EndingToken, 'ending'> & { readonly hashedToken: string | undefined },
  answer: RevocationAnswer,
): Record<string, JsonValue> {
  const { ending } = token
  return { ...defined({ hashedToken: token.hashedToken, cause: ending?.cause, causeAt: ending?.at.toISOString() }), answer }
}

/** As `endFacts`, of a token that is still known. */
export function endingFacts(token: EndingToken, answer: RevocationAnswer): Record<string, JsonValue> {
  return endFacts({ ending: token.ending, hashedToken: hashedToken(token.token) }, answer)
}

/**
 * Deliveries of one token are counted for so long, after so many records of single ones: a workload that asks as it should is
 * never counted.
 */
const deliveryWindow = { windowMilliseconds: 600_000, individually: 10 }
/** Pods that are named for one token in that time; the deliveries to others are counted together. */
const maxPods = 50

/** A delivery of a token, as an event that the same pod may repeat all day. `facts` are those of this request. */
export function deliveryOf(request: TokenRequest, token: LiveToken, facts: TokenFacts, reason: string): CountedEvent {
  const step = { action: 'token.delivered', outcome: 'allowed', reason } as const
  const details = { ...tokenFacts({ ...token, facts }, token.id), hashedToken: hashedToken(token.token) }
  const { pod: _, address: __, ...withoutPod } = details as { pod?: JsonValue; address?: JsonValue } & typeof details
  const scope = `delivered ${token.id}`
  return {
    record: requestRecord(request, { ...step, details }),
    key: `${scope} ${request.from?.pod?.uid ?? ''}`,
    ...deliveryWindow,
    within: {
      scope,
      most: maxPods,
      others: requestRecord(request, {
        ...step,
        reason: `more than ${maxPods} pods: the others are counted here`,
        details: withoutPod,
      }),
    },
  }
}

/** Refusals by one check under one grant are counted for so long, after a record of the first. */
const refusalWindowMilliseconds = 60_000
/** Different refusals of one namespace that are recorded by themselves in that time. */
const maxRefusals = 20

/** Why a request was refused, and what is known of its grant (`requestFacts`). */
export type DeskRefusalFacts = { readonly check: string; readonly reason: string; readonly facts: TokenFacts }

/** A refused request, as an event that the same workload may repeat all day. */
export function refusalOf(request: TokenRequest, { check, reason, facts }: DeskRefusalFacts): CountedEvent {
  const { name, namespace = '', uid = '' } = request.grant.metadata
  const step = { action: 'token.refused', outcome: 'denied' } as const
  const details = { ...facts, check, subject: { ...request.subject }, ...(uid === '' ? {} : { grantUid: uid }) }
  const record = requestRecord(request, { ...step, reason, details })
  const others: AuditRecord = {
    ...step,
    actor: 'sekisho:token-desk',
    namespace,
    object: `RepositoryGrant/${namespace}/*`,
    reason: `more than ${maxRefusals} different refusals in a minute: the others are counted here`,
    details: { check: 'others' },
  }
  const key = `refused ${namespace}/${name} ${uid} ${check}`
  return { record, key, windowMilliseconds: refusalWindowMilliseconds, within: { scope: namespace, most: maxRefusals, others } }
}
