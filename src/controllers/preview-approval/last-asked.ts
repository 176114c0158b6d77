// When this process last read what was said on a pull request that waits, and at which wake. Deliberately not stored: after a restart every waiting
// pull request is asked about once more, which finds the approvals whose webhooks were missed meanwhile.
import { BoundedMap } from '../../lib/bounded-map.ts'

/** Beyond this many pull requests, the one that was asked about the longest ago is forgotten: it is asked about again. */
const mostPullRequests = 50_000

export type Asked = {
  readonly at: Date
  readonly wake: string | undefined
  readonly headCommit: string
  /** When anything about the pull request had last changed, as the list said. */
  readonly updatedAt: string | undefined
}

/** uid of the AppPipeline and number of the pull request → the last answer. */
export type LastAsked = Pick<Map<string, Asked>, 'get' | 'set'>

/** Empty, as after a restart. */
export function createLastAsked(): LastAsked {
  return new BoundedMap<Asked>(mostPullRequests)
}

/** The key of a pull request. */
export function askedKey(pipelineUid: string, number: number): string {
  return `${pipelineUid}#${number}`
}
