// What the pool knows of its members: how much of their limits is left, and which lacked what a grant needs.
import { askLimit, type Fetch, type GitHubMeter } from '../../../github/index.ts'
import { BoundedMap } from '../../../lib/bounded-map.ts'
import type { Clock } from '../../../lib/clock.ts'
import { messageOf } from '../../../lib/errors.ts'
import { defined } from '../../../lib/json/defined.ts'
import type { Log } from '../../../lib/log.ts'
import type { SecretString } from '../../../lib/secret-string.ts'
import type { InstallationIdentity } from '../../../store/token-registry.ts'
import type { Member } from './member.ts'

export type PoolLimits = {
  /** From 0 to 1; 1 when GitHub has not said it. */
  readonly leftOf: (identity: InstallationIdentity) => number
  /** Asks GitHub, with a token of the member, what is left; nothing is known when that fails. */
  readonly ask: (member: Member, token: SecretString) => Promise<void>
  /** The member did not have a repository or a permission of the grant. */
  readonly lacked: (identity: InstallationIdentity, grantUid: string) => void
  readonly isLacking: (identity: InstallationIdentity, grantUid: string) => boolean
}

export type PoolLimitsDeps = {
  /** Absent: nothing is known of any limit. */
  readonly meter?: Pick<GitHubMeter, 'leftOf' | 'ofInstallation'>
  readonly clock: Clock
  readonly log: Log
  readonly fetch?: Fetch
}

const maxRemembered = 1000
/** An owner may have added the repository or accepted the permission since. */
const lackingMilliseconds = 600_000

// Memory (members of a pool that lacked something): installation and grant → until when it is not asked
//   life: ten minutes
//   bound: 1,000, the oldest forgotten first
//   freshness: its end
//   replicas: each learns it from one refusal
/** For one process. */
export function createPoolLimits({ meter, clock, log, fetch }: PoolLimitsDeps): PoolLimits {
  const lacking = new BoundedMap<number>(maxRemembered)
  const keyOf = ({ host, appId, installationId }: InstallationIdentity, grantUid: string): string =>
    `${host}/${appId}/${installationId} ${grantUid}`
  return {
    leftOf: identity => meter?.leftOf(identity) ?? 1,
    async ask({ identity, endpoints }, token) {
      if (meter === undefined) return
      const observe = meter.ofInstallation(identity.host, identity.installationId)
      await askLimit({ endpoints, token, log, clock, observe, ...defined({ fetch }) }).catch((error: unknown) => {
        // A server without limits has no such route.
        log.info({ installation: identity.installationId, reason: messageOf(error) }, 'GitHub did not say what is left')
      })
    },
    lacked: (identity, grantUid) => void lacking.set(keyOf(identity, grantUid), clock.now().getTime() + lackingMilliseconds),
    isLacking(identity, grantUid) {
      const left = (lacking.get(keyOf(identity, grantUid)) ?? 0) - clock.now().getTime()
      return left > 0 && left <= lackingMilliseconds
    },
  }
}
