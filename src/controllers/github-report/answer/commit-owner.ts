// Which report writes the status of a commit: two pull requests of an AppPipeline can have one head, whose status is one on
// GitHub. Pure.
import { commitSentences } from './desired.ts'
import type { PreviewRow } from './situation.ts'

type SpeakingRow = Pick<PreviewRow, 'number' | 'headCommit' | 'state'>

/**
 * The heads whose status others than the pull request of that number write. Of pull requests with one head it is the one that
 * was opened first, of those whose state says something about the commit: a fork that nobody has approved never takes a status
 * over, and never ends it.
 */
export function commitsOfOthers(rows: readonly SpeakingRow[], number: number): readonly string[] {
  const speaking = rows.filter(({ state }) => state !== 'Removing' && commitSentences[state] !== undefined)
  const own = speaking.find(row => row.number === number)
  const others = speaking.filter(row => row.number !== number && (row.headCommit !== own?.headCommit || row.number < number))
  return [...new Set(others.map(({ headCommit }) => headCommit))]
}
