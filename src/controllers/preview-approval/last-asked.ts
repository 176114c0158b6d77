// When this process last read what was said on a pull request that waits, and whether a webhook has come for it since.
// Deliberately not stored: after a restart every waiting pull request is asked about once more, which finds the approvals whose
// webhooks were missed meanwhile.
import { pullRequestOfWake } from '../../api/names.ts'
import { BoundedMap } from '../../lib/bounded-map.ts'

/** Beyond this many pull requests, the one that was asked about the longest ago is forgotten: it is asked about again. */
const maxPullRequests = 50_000

export type Asked = {
  readonly at: Date
  /** The newest wake that was looked at, whether or not it is about this pull request. */
  readonly wake: string | undefined
  /** A wake about it came since, which another one may have replaced. */
  readonly isDue: boolean
  readonly headCommit: string
  /** When anything about the pull request had last changed, as GitHub said then. */
  readonly updatedAt: string | undefined
}

/** What is known of a pull request after this wake. */
export function withWake(asked: Asked, number: number, wake: string | undefined): Asked {
  if (wake === undefined || wake === asked.wake) return asked
  const about = pullRequestOfWake(wake)
  return { ...asked, wake, isDue: asked.isDue || about === undefined || about === number }
}

/** uid of the AppPipeline and number of the pull request → the last answer. */
export type LastAsked = Pick<Map<string, Asked>, 'get' | 'set'>

// Memory (last questions about approvals): AppPipeline and pull request → when this process last read what was said there, at
//     which wake
//   life: until restart
//   bound: 50,000, the oldest forgotten first
//   freshness: another head or wake
//   replicas: leader only; the next asks as after a restart
/** Empty, as after a restart. */
export function createLastAsked(): LastAsked {
  return new BoundedMap<Asked>(maxPullRequests)
}

/** The key of a pull request. */
export function askedKey(pipelineUid: string, number: number): string {
  return `${pipelineUid}#${number}`
}
