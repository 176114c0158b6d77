// The condition by which a Tenant says whether its account can be reached on GitHub. Pure. The Installations of its namespaces
// are the truth; the Tenant repeats what they say, because it is what people list first.
import { type Installation, installation as installations } from '../../api/github/installation.ts'
import { classOf, goesOnByItself } from '../../api/reasons/reason.ts'
import { tenantReasons as reasons, tenantConditions } from '../../api/tenancy/tenant.ts'
import { findCondition, type WantedCondition } from '../../kube/object/conditions.ts'
import { compareText } from '../../lib/text/compare-text.ts'

const type = tenantConditions.gitHubAccess
const maxMessage = 1000

/** The part of an Installation that decides. */
export function accessFields({ status }: Pick<Installation, 'status'>): unknown {
  const ready = findCondition(status?.conditions, 'Ready')
  return [ready?.status, ready?.reason, ready?.message]
}

/** Not part of Ready: what runs goes on without GitHub. What takes somebody is said before what goes on by itself. */
export function gitHubAccessCondition(found: readonly Installation[]): WantedCondition {
  if (found.length === 0) {
    const message = 'the namespace has no Installation: an owner of the account onboards it'
    return { type, status: 'Unknown', reason: reasons.installationsPending, message }
  }
  const unready = found
    .toSorted((a, b) => compareText(a.metadata.name, b.metadata.name))
    .map(({ metadata, status }) => ({ name: metadata.name, ready: findCondition(status?.conditions, 'Ready') }))
    .filter(({ ready }) => ready?.status !== 'True')
  const [first] = unready
  if (first === undefined)
    return { type, status: 'True', reason: reasons.installationsReady, message: 'every Installation is ready' }
  const isWaiting = ({ ready }: typeof first) =>
    ready === undefined || goesOnByItself(classOf(installations, ready.reason) ?? 'machine')
  const blocked = unready.find(one => !isWaiting(one))
  const { name, ready } = blocked ?? first
  const why = ready === undefined ? 'it is being checked' : `${ready.reason}: ${ready.message}`
  const message = `Installation ${name}: ${why}`.slice(0, maxMessage)
  return blocked === undefined
    ? { type, status: 'Unknown', reason: reasons.installationsPending, message }
    : { type, status: 'False', reason: reasons.installationNotReady, message }
}
