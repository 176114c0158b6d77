// What GitHub says of the files of a comparison of two commits.
// Source: https://docs.github.com/en/rest/commits/commits#compare-two-commits
import { type Answer, optionalTextAt, recordOf, textAt } from './transport/answer.ts'

/** GitHub lists at most this many files of a comparison, and only on its first page. */
const maxFiles = 300

/** The paths of the files that differ, with the former paths of renamed ones; undefined when GitHub does not list them all. */
export function comparedFiles({ files }: Answer): readonly string[] | undefined {
  if (!Array.isArray(files) || files.length >= maxFiles) return undefined
  return files.flatMap(file => {
    const changed = recordOf(file, 'comparison.files')
    const former = optionalTextAt(changed, 'previous_filename', 'comparison.files')
    return [textAt(changed, 'filename', 'comparison.files'), ...(former === undefined ? [] : [former])]
  })
}
