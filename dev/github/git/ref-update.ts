// The change of one ref, as git's hooks report it.

export type RefUpdate = { readonly ref: string; readonly before: string; readonly after: string }

/** The id with which git says "does not exist". */
export const noCommit = '0'.repeat(40)

/** Parses the input of the post-receive hook: one `before after ref` per line. */
export function parseRefUpdates(report: string): readonly RefUpdate[] {
  return report.split('\n').flatMap(line => {
    const [before, after, ref] = line.split(' ')
    return before && after && ref ? [{ before, after, ref }] : []
  })
}
