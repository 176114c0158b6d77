// A present owner takes over the binding of an Installation whose binder is no owner any more: an onboarding of the same account,
// begun and confirmed at once, because the tenant and its roles stay. Where it would allow more than before, the person sees it
// first and confirms it on the usual page.
import type { Installation } from '../../api/github/installation.ts'
import { AppError } from '../../lib/errors.ts'
import { permissionAbove } from '../../policy/permission-level.ts'
import type { Ceiling } from '../onboarding/ceiling.ts'
import { beginOnboarding, confirmOnboarding, openOnboarding } from '../onboarding/onboarding-requests.ts'
import type { OnboardingDeps } from '../onboarding/prove-binding.ts'
import type { SignedInPerson } from '../sessions.ts'

/** Whether grants under `next` reach nothing that they could not reach under `before`. */
export function isWithinCeiling(next: Ceiling, before: Ceiling): boolean {
  if (permissionAbove(next.permissions, before.permissions) !== undefined) return false
  if (before.repositories === 'All') return true
  const known = before.repositoryIds ?? []
  return next.repositories === 'Selected' && (next.repositoryIds ?? []).every(id => known.includes(id))
}

/**
 * Resolves to the onboarding: `confirmed` when it goes on by itself, `proved` when the person has to confirm it. Rejects as
 * `beginOnboarding` and `confirmOnboarding`: with `forbidden`, which is recorded, for who is no present owner.
 */
export async function takeOver(
  deps: OnboardingDeps,
  person: SignedInPerson,
  { spec }: Installation,
): Promise<{ readonly id: string; readonly state: 'confirmed' | 'waiting-for-admin' | 'proved' }> {
  const id = await beginOnboarding(deps, person, spec.installationId)
  const open = await openOnboarding(deps, person, id)
  if (open.accountId !== spec.account.id)
    throw new AppError('conflict', 'the installation is on another account by now: begin again at /onboard')
  if (!isWithinCeiling(open.intent.ceiling, spec.ceiling)) return { id, state: 'proved' }
  return { id, state: await confirmOnboarding(deps, person, open, []) }
}
