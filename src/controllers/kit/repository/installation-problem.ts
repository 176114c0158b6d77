// Why a kind that follows a repository may not ask GitHub through its Installation. Pure.
import type { Installation } from '../../../api/github/installation.ts'
import { findCondition } from '../../../kube/object/conditions.ts'

/** Of one that does not exist, is suspended or is not verified; undefined for one that is ready. `name`: as the spec says it. */
export function installationProblem(installation: Installation | undefined, name: string): string | undefined {
  if (installation === undefined)
    return `spec.installation: there is no Installation ${name} in this namespace: see \`kubectl get installations\``
  const ready = findCondition(installation.status?.conditions, 'Ready')
  if (ready?.status === 'True') return undefined
  return `Installation ${name} is not ready: ${ready?.message ?? 'it has not been verified yet'}`
}
