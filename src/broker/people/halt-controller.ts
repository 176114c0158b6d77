// Ends what a halted person has at the broker: sign-ins on the pages and of programs, stored tokens of GitHub, and onboardings
// that wait or are in progress. Level-triggered: it reads what there is, again after a restart and every ten minutes. That
// nothing new begins does not depend on it (halted-people.ts). It never writes the object: the controllers report.
import { halt } from '../../api/github/halt.ts'
import { platformNamespace, userSubject } from '../../api/names.ts'
import { type ControllerDefinition, done } from '../../kube/controller/controller.ts'
import type { Manager } from '../../kube/manager.ts'
import { isAppError } from '../../lib/errors.ts'
import { haltedText, stands } from '../../policy/halt.ts'
import type { OidcRecords } from '../../store/oidc-records.ts'
import type { Sessions } from '../../store/sessions.ts'
import type { OnboardingRecord, OnboardingRecords } from '../onboarding/onboarding-records.ts'
import { endSignIns, type SignInDeps } from './end-sign-ins.ts'

export type BrokerHaltDeps = {
  readonly manager: Pick<Manager, 'cache'>
  readonly store: SignInDeps['store'] & { readonly users: { readonly find: (host: string, userId: number) => Promise<unknown> } }
  readonly onboardings: Pick<OnboardingRecords, 'ofPerson' | 'move'>
}

/** What has ended stays as it ended. */
const goesOn = ({ state }: OnboardingRecord): boolean => !['finished', 'refused', 'abandoned'].includes(state)

type Counting = {
  readonly store: {
    readonly sessions: Pick<Sessions, 'countOf'>
    readonly oidc: Pick<OidcRecords, 'countOf'>
  }
  readonly onboardings: Pick<OnboardingRecords, 'ofPerson'>
}

/** How much a Halt of the person would end here now. ID tokens are stored nowhere, and do not count at their next use. */
export async function wouldEnd({ store, onboardings }: Counting, { host, userId }: { host: string; userId: number }) {
  const [webSessions, programs, all] = await Promise.all([
    store.sessions.countOf(host, userId),
    store.oidc.countOf(userSubject(host, userId)),
    onboardings.ofPerson(host, userId),
  ])
  return { webSessions, programs, onboardings: all.filter(goesOn).length }
}

/** Call before the manager starts: caches cannot be added later. */
export function createBrokerHaltController({ manager, store, onboardings }: BrokerHaltDeps): ControllerDefinition {
  const halts = manager.cache(halt)
  return {
    name: 'broker-halt',
    for: halt,
    async reconcile({ key }) {
      const object = halts.get(key)
      const person = object?.spec.target.person
      if (object === undefined || person === undefined || key.namespace !== platformNamespace || !stands(object)) return done
      const { host, id: userId } = person
      // Its row is deleted last: while it is there, something may be left.
      if ((await store.users.find(host, userId)) !== undefined)
        await endSignIns({ store }, { host, userId, actor: object.spec.requestedBy, cause: 'halted by a platform admin' })
      for (const record of (await onboardings.ofPerson(host, userId)).filter(goesOn))
        await onboardings.move(record, 'abandoned', { note: haltedText(object) }).catch((error: unknown) => {
          // Somebody else moved it on meanwhile: the next run reads what it is then.
          if (!isAppError(error, 'conflict') && !isAppError(error, 'not_found')) throw error
        })
      return done
    },
  }
}
