// Owns: the change of one ref, as git's hooks report it. Pure.

export type RefUpdate = { readonly ref: string; readonly before: string; readonly after: string }

/** The id that git uses for "does not exist". */
export const noCommit = '0'.repeat(40)

/** Parses what the post-receive hook was told: one `before after ref` per line. */
export function parseRefUpdates(report: string): readonly RefUpdate[] {
  return report.split('\n').flatMap(line => {
    const [before, after, ref] = line.split(' ')
    return before && after && ref ? [{ before, after, ref }] : []
  })
}
