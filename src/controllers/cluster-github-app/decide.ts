// Whether the platform can act as a GitHub App: checks in order, each with its reason and the cure. Pure.
import { clusterGitHubAppReasons as reasons, webhookReadable } from '../../api/github/cluster-github-app.ts'
import type { WantedCondition } from '../../kube/object/conditions.ts'
import { type Check, firstRefusal } from '../../policy/check.ts'
import { retryMilliseconds } from '../kit/github-unreachable.ts'
import type { Refusal } from '../kit/refusal.ts'
import type { Facts } from './gather.ts'

/** The status is Unknown when GitHub did not answer. */
type AppRefusal = Refusal & { readonly status: 'False' | 'Unknown' }

export type Decision = {
  readonly ready: WantedCondition
  /** Undefined when GitHub does not say it: then what it said last stays. */
  readonly webhook: WantedCondition | undefined
} & Pick<AppRefusal, 'requeueAfterMilliseconds'>

/** Nothing watches Secrets: another key is found by asking for the Secret again. GitHub is not asked twice about the same key. */
const keyRetryMilliseconds = 5_000

/** Another App says where the host is, or a key server refuses: that it is over is found by looking again. */
const otherRetryMilliseconds = 60_000

/** Stops an App that would send what belongs to one server to another. */
const isOfOneServer: Check<Facts, AppRefusal> = ({ answer }) =>
  answer.kind === 'host-conflict'
    ? { status: 'False', reason: reasons.hostConflict, message: answer.message, requeueAfterMilliseconds: otherRetryMilliseconds }
    : undefined

/** Stops an App without a private key to sign with. */
const hasKey: Check<Facts, AppRefusal> = ({ answer }) =>
  answer.kind === 'key-missing'
    ? { status: 'False', reason: reasons.keyMissing, message: answer.message, requeueAfterMilliseconds: keyRetryMilliseconds }
    : undefined

/** Stops an App whose key server does not sign. */
const isSignedFor: Check<Facts, AppRefusal> = ({ answer }) =>
  answer.kind === 'signer-refused'
    ? {
        status: 'False',
        reason: reasons.signerRefused,
        message: answer.message,
        requeueAfterMilliseconds: otherRetryMilliseconds,
      }
    : undefined

/** Stops an App whose key GitHub does not accept. */
const keyIsAccepted: Check<Facts, AppRefusal> = ({ answer }) => {
  if (answer.kind !== 'key-refused') return undefined
  const message = `${answer.message}. Check clientId, and that the private key belongs to the App and was not deleted on GitHub`
  return { status: 'False', reason: reasons.keyRefused, message, requeueAfterMilliseconds: keyRetryMilliseconds }
}

/** Stops while GitHub does not answer. */
const gitHubAnswers: Check<Facts, AppRefusal> = ({ answer }) => {
  if (answer.kind !== 'unreachable') return undefined
  const { message } = answer
  return { status: 'Unknown', reason: reasons.unreachable, message, requeueAfterMilliseconds: retryMilliseconds(answer) }
}

/** Stops a key and a client id of another App than the spec says. */
const isThisApp: Check<Facts, AppRefusal> = ({ object: { spec }, answer }) => {
  if (answer.kind !== 'app' || answer.app.id === spec.appId) return undefined
  const message = `the key and the client id belong to the App ${answer.app.slug} (id ${answer.app.id}), not to spec.appId ${spec.appId}`
  return { status: 'False', reason: reasons.mismatch, message }
}

const checks: readonly Check<Facts, AppRefusal>[] = [isOfOneServer, hasKey, isSignedFor, keyIsAccepted, gitHubAnswers, isThisApp]

/** Whoever corrects it looks at once. */
const formRetryMilliseconds = 60_000

/**
 * By what GitHub is set to, not by what arrived: it ends as soon as the setting is right, also when nothing is delivered. Not
 * part of Ready: tokens do not need the webhook.
 */
function webhookCondition({ answer }: Facts): WantedCondition | undefined {
  const encoding = answer.kind === 'app' ? answer.encoding : undefined
  if (encoding === undefined) return undefined
  const type = webhookReadable
  if (encoding === 'json') return { type, status: 'True', reason: reasons.jsonDeliveries, message: 'deliveries are JSON' }
  const cure =
    'set “Content type: application/json” in the settings of the webhook of the App on GitHub (by API: PATCH /app/hook/config with content_type=json)'
  const message = `GitHub sends the deliveries of the App form-encoded, which cannot be read, so that nothing wakes the platform: ${cure}`
  return { type, status: 'False', reason: reasons.formDeliveries, message }
}

/** Ready with the reason of the first check that does not hold. */
export function decide(facts: Facts): Decision {
  const refusal = firstRefusal(checks, facts)
  const verified = { status: 'True', reason: reasons.verified, message: 'GitHub accepts the App’s key' } as const
  const { status, reason, message } = refusal ?? verified
  const webhook = webhookCondition(facts)
  const again = webhook?.status === 'False' ? formRetryMilliseconds : undefined
  return {
    ready: { type: 'Ready', status, reason, message },
    webhook,
    requeueAfterMilliseconds: refusal?.requeueAfterMilliseconds ?? again,
  }
}
