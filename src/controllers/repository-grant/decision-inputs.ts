// What a decision on a grant was made from, besides the grant itself and GitHub's answer: the Installation and the policy
// rules. The status holds a digest of it, so that the grant is decided again when one of them changes, also when no watch
// observed the change. Pure.
import type { Installation } from '../../api/github/installation.ts'
import type { RepositoryGrant } from '../../api/github/repository-grant.ts'
import { canonicalJson } from '../../lib/json/canonical-json.ts'
import { spreadOf } from '../../lib/limits/spread.ts'
import { shortHash } from '../../lib/text/bounded-name.ts'
import { defaultGrantRules } from '../../policy/index.ts'

/**
 * The parts that decide, as JSON: an Installation that was created again has another uid, and readiness does not count
 * (`gather` handles it).
 */
export function installationInputs({ metadata, spec, status }: Installation) {
  return {
    uid: metadata.uid ?? '',
    installationId: spec.installationId,
    repositorySelection: status?.repositorySelection ?? '',
    permissions: { ...status?.permissions },
  }
}

const rules = shortHash(canonicalJson(defaultGrantRules.map(rule => ({ ...rule }))), 32)

/** Raised when a check decides otherwise about the same facts: grants that were decided before are then decided again. */
const checks = 2

/** Equal as long as the same grant would be decided from the same Installation, rules and checks. */
export function decisionInputs(installation: Installation): string {
  return shortHash(canonicalJson({ checks, rules, installation: installationInputs(installation) }), 32)
}

const hourMilliseconds = 3_600_000

/** How often a grant is checked without a reason: while tokens under it are in use, and at rest. */
export type RecheckTimes = { readonly inUseMilliseconds: number; readonly atRestMilliseconds: number }

/** Webhooks and changed inputs wake a grant much sooner; these checks find changes that GitHub reports to nobody. */
export const defaultRecheckTimes: RecheckTimes = {
  inUseMilliseconds: hourMilliseconds,
  atRestMilliseconds: 12 * hourMilliseconds,
}

/** A number from 0.9 to 1.1 that stays the same for a grant: the checks of grants that were approved together drift apart. */
export function spreadOfGrant({ metadata }: RepositoryGrant): number {
  return spreadOf(metadata.uid ?? metadata.name)
}
