// Which of a person's requests at an owner are answered: the organisation was onboarded since, or the person became an owner and
// continues alone. Pure. GitHub does not say which organisation a request is for before an owner has installed the App: a request
// without that is answered by an organisation that the person sees and that was onboarded after it, one request by each, the
// oldest first, as owners answer them.
import type { Candidate } from '../candidates.ts'
import type { OnboardingRecord } from '../onboarding-records.ts'

/** A bound installation of the person's host. */
export type Bound = { readonly installationId: number; readonly boundAt: Date }

/** `candidates` are the installations that the person sees at GitHub now. */
export function answeredRequests(
  own: readonly OnboardingRecord[],
  candidates: readonly Candidate[],
  bound: readonly Bound[],
): readonly OnboardingRecord[] {
  const requests = own
    .filter(({ state }) => state === 'needs-owner' || state === 'waiting-for-approval')
    .toSorted((a, b) => a.createdAt.getTime() - b.createdAt.getTime())
  const known = requests.filter(({ intent }) => intent.approvedInstallationId !== undefined)
  const isAnswered = (id: number | undefined): boolean =>
    bound.some(one => one.installationId === id) || candidates.some(one => one.installationId === id && one.administers)
  const answered = known.filter(({ intent }) => isAnswered(intent.approvedInstallationId))

  const named = new Set(known.map(({ intent }) => intent.approvedInstallationId))
  const left = bound.filter(
    ({ installationId }) => !named.has(installationId) && candidates.some(one => one.installationId === installationId),
  )
  const others = requests.filter(({ intent }) => intent.approvedInstallationId === undefined)
  for (const request of others) {
    const at = left.findIndex(({ boundAt }) => boundAt.getTime() >= wholeSecond(request.createdAt))
    if (at < 0) continue
    left.splice(at, 1)
    answered.push(request)
  }
  return answered
}

/** The API server dates objects to the second. */
function wholeSecond(date: Date): number {
  return Math.floor(date.getTime() / 1000) * 1000
}
