// Who is halted by a platform admin: signs in nowhere, and no session or ID token of theirs counts here any more. By a cache,
// so a Halt counts as soon as this process has observed it. Decides by `src/policy/halt.ts`.
import type { Halt } from '../../api/github/halt.ts'
import { platformNamespace, userSubject } from '../../api/names.ts'
import type { Tenant } from '../../api/tenancy/tenant.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import { AppError } from '../../lib/errors.ts'
import { haltedText, haltOf } from '../../policy/halt.ts'

export type HaltedPeople = {
  readonly isHalted: (host: string, userId: number) => boolean
  /** Throws `forbidden` (reason Halted), which names the Halt. */
  readonly refuse: (host: string, userId: number) => void
  /**
   * The Halt that holds for a tenant as a whole: one of the platform, which only platform admins lift, before one of the tenant's
   * own admins. With `platform` only the former.
   */
  readonly ofTenant: (tenant: Tenant, by?: 'platform') => Halt | undefined
  /** Why the account may not be onboarded now, by that person or because its tenant is halted; undefined when it may. */
  readonly ofOnboarding: (account: Account, userId: number) => string | undefined
}

type Account = { readonly host: string; readonly id: number }

/** The halted people by the Halts of the platform: those in namespaces of tenants are about what is of the tenant. */
export function createHaltedPeople(halts: Pick<Cache<Halt>, 'list'>, tenants: Pick<Cache<Tenant>, 'list'>): HaltedPeople {
  const ofPerson = (host: string, userId: number): Halt | undefined =>
    haltOf(halts.list(), { requestedBy: userSubject(host, userId) })
  const ofAccount = ({ host, id }: Account): Halt | undefined => {
    const names = tenants
      .list()
      .flatMap(({ metadata, spec }) => (spec.account.host === host && spec.account.id === id ? [metadata.name] : []))
    return names.map(tenant => haltOf(halts.list(), { tenant })).find(halt => halt !== undefined)
  }
  return {
    isHalted: (host, userId) => ofPerson(host, userId) !== undefined,
    refuse(host, userId) {
      const found = ofPerson(host, userId)
      if (found !== undefined) throw new AppError('forbidden', `you are ${haltedText(found)}`, { reason: 'Halted' })
    },
    ofTenant({ metadata, spec }, by) {
      const whole = halts.list().filter(({ spec: { target } }) => target.type === 'Tenant' || target.type === 'Everything')
      const ofPlatform = whole.filter(({ metadata: { namespace } }) => namespace === platformNamespace)
      const subject = { tenant: metadata.name, namespace: spec.namespace }
      return haltOf(ofPlatform, subject) ?? (by === 'platform' ? undefined : haltOf(whole, subject))
    },
    ofOnboarding(account, userId) {
      const found = ofPerson(account.host, userId) ?? ofAccount(account)
      return found && haltedText(found)
    },
  }
}
