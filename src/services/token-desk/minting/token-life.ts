// How long a token lives. GitHub's tokens expire after an hour; the platform revokes them earlier where the grant says so: by a
// policy, or because a workload holds them and may have copied them. What the platform itself uses for a build or a preview keeps
// GitHub's hour unless a policy says otherwise: a long clone must not end with it
// (docs/adr/0098-life-of-tokens-by-policy.md). Pure.
import { defaultTokenSeconds } from '../../../policy/grants/token-lifetime.ts'

/** A delivered token has at least this much of its life left, or a third of a shorter life. */
const minimumLife = { workload: 300, platform: 600 }

/** When the platform ends it; undefined: when GitHub does. */
export function livesUntil(lifeSeconds: number, now: Date, expiresAt: Date): Date | undefined {
  const end = new Date(now.getTime() + lifeSeconds * 1000)
  return end < expiresAt ? end : undefined
}

/** Seconds of its life that a token must have left to be delivered again. */
export function minimumLifeSeconds(kind: string, lifeSeconds: number): number {
  const most = defaultTokenSeconds(kind) < 3600 ? minimumLife.workload : minimumLife.platform
  return Math.min(most, Math.floor(lifeSeconds / 3))
}

/** Why a token ends whose life is over, as the log and the registry have it. */
export const lifeIsOver = 'its life is over: that of a workload, or the one that a policy says'
