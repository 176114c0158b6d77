// How long a token lives. GitHub's tokens expire after an hour; one that a workload holds is revoked after fifteen minutes,
// because it may have been copied meanwhile. What the platform itself uses for a build or a preview keeps GitHub's hour: a long
// clone must not end with it (docs/adr/0095-tokens-of-workloads-live-fifteen-minutes.md). Pure.
import type { TokenSubject } from '../../../store/token-registry.ts'

/** Kinds of subjects that are workloads of the tenant. */
const workloadKinds: ReadonlySet<string> = new Set(['ServiceAccount', 'Application'])

const workloadLifeMilliseconds = 15 * 60_000

/** A delivered token has at least this much of its life left. */
const minimumLife = { workload: 300, platform: 600 }

/** When the platform ends it; undefined: when GitHub does. */
export function livesUntil({ kind }: Pick<TokenSubject, 'kind'>, now: Date, expiresAt: Date): Date | undefined {
  const end = new Date(now.getTime() + workloadLifeMilliseconds)
  return workloadKinds.has(kind) && end < expiresAt ? end : undefined
}

/** Seconds of its life that a token must have left to be delivered again. */
export function minimumLifeSeconds({ kind }: Pick<TokenSubject, 'kind'>): number {
  return workloadKinds.has(kind) ? minimumLife.workload : minimumLife.platform
}

/** Why a token ends whose life is over, as the log and the registry have it. */
export const lifeIsOver = `a token of a workload lives for ${workloadLifeMilliseconds / 60_000} minutes`
