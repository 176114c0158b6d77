// The host name of a preview. Pure. Outsiders name branches: what of them gets into a host is letters, digits and single
// hyphens, and the number of the pull request, which hyphens separate from the rest, is what makes a host unique among the
// previews of an AppPipeline.
import { boundedName } from '../../../lib/text/bounded-name.ts'

/** RFC 1035 §2.3.4. */
const maxLabel = 63
/** With the longest pattern, number and name, at least eight characters are left for a branch. */
const maxName = 22
const forkMark = 'fork-'

function slugOf(branch: string, most: number): string {
  const slug = branch
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '')
    .slice(0, most)
    .replace(/-$/, '')
  return slug === '' ? 'branch'.slice(0, most) : slug
}

export type HostFacts = {
  /** `spec.host`. */
  readonly pattern: string
  /** The name of the AppPipeline. */
  readonly pipeline: string
  readonly number: number
  readonly branch: string
  readonly isFork: boolean
}

/** The first label of the host name: a DNS label. */
export function hostLabel({ pattern, pipeline, number, branch, isFork }: HostFacts): string {
  const filled = pattern.replace('{number}', String(number)).replace('{name}', boundedName(pipeline, maxName, { length: 8 }))
  // Also of a host that is not of a fork, so that the same branch has the same name in both.
  const left = maxLabel - forkMark.length - filled.replace('{branch}', '').length
  const label = filled.replace('{branch}', () => slugOf(branch, left))
  return isFork ? `${forkMark}${label}` : label
}
