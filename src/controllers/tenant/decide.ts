// Whether a Tenant can have its namespaces: a list of checks in order, each with its reason. Pure.
import { tenantReasons as reasons } from '../../api/tenant.ts'
import type { Facts } from './gather.ts'

export type Finding = { readonly status: 'True' | 'False'; readonly reason: string; readonly message: string }

type Check = (facts: Facts) => Finding | undefined

const checks: readonly Check[] = [
  // Never adopt: a namespace that somebody else made keeps its people and its Secrets to itself.
  ({ applications, builds }) => {
    const taken = [applications, builds].find(namespace => namespace.state === 'taken')
    return (
      taken &&
      refuse(
        reasons.namespaceTaken,
        `namespace ${taken.name} exists and is not this Tenant's: delete it, or make a Tenant with another spec.namespace`,
      )
    )
  },
  // What is being deleted cannot be filled: it is made anew when it is gone.
  ({ applications, builds }) => {
    const leaving = [applications, builds].find(namespace => namespace.state === 'terminating')
    return leaving && refuse(reasons.terminating, `namespace ${leaving.name} is being deleted; it is made anew when it is gone`)
  },
]

function refuse(reason: string, message: string): Finding {
  return { status: 'False', reason, message }
}

/** `True` means: go on and make what is desired. */
export function decide(facts: Facts): Finding {
  for (const check of checks) {
    const finding = check(facts)
    if (finding) return finding
  }
  return {
    status: 'True',
    reason: reasons.ready,
    message: `namespaces ${facts.applications.name} and ${facts.builds.name} are ready`,
  }
}
