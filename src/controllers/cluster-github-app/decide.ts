// Whether the platform can act as this App: a list of checks, in order. Pure.
import { clusterGitHubAppReasons as reasons } from '../../api/github/cluster-github-app.ts'
import type { Facts } from './gather.ts'

export type Verdict = {
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: string
  readonly message: string
  /** Ask again after this long, because nothing will wake us. */
  readonly retryAfterMilliseconds?: number
}

type Check = (facts: Facts) => Verdict | undefined

const checks: readonly Check[] = [
  // There is a key to sign with.
  ({ answer }) =>
    answer.kind === 'key-missing'
      ? { status: 'False', reason: reasons.keyMissing, message: `${answer.message}: create it` }
      : undefined,
  // GitHub accepts it.
  ({ answer }) =>
    answer.kind === 'key-refused'
      ? {
          status: 'False',
          reason: reasons.keyRefused,
          message: `${answer.message}. Check clientId, and that the private key belongs to the App and was not deleted on GitHub`,
          retryAfterMilliseconds: 120_000,
        }
      : undefined,
  // GitHub answers at all.
  ({ answer }) =>
    answer.kind === 'unreachable'
      ? {
          status: 'Unknown',
          reason: reasons.unreachable,
          message: answer.message,
          retryAfterMilliseconds: Math.max(30, answer.retryAfterSeconds ?? 0) * 1000,
        }
      : undefined,
  // The key is this App's and not another's.
  ({ object, answer }) =>
    answer.kind === 'app' && answer.app.id !== object.spec.appId
      ? {
          status: 'False',
          reason: reasons.mismatch,
          message: `the key and client id are those of App ${answer.app.id} (${answer.app.slug}), not of spec.appId ${object.spec.appId}`,
        }
      : undefined,
]

export function decide(facts: Facts): Verdict {
  for (const check of checks) {
    const verdict = check(facts)
    if (verdict) return verdict
  }
  return { status: 'True', reason: reasons.verified, message: 'GitHub accepts the App’s key' }
}
