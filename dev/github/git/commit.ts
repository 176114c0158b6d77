// The parser of commits, and the only code that knows the log format.

export type Signature = { readonly name: string; readonly email: string; readonly date: string }

export type Commit = {
  readonly sha: string
  readonly treeSha: string
  readonly parents: readonly string[]
  readonly author: Signature
  readonly committer: Signature
  readonly message: string
}

/** For `git log -z`: every field ends with NUL, which no field can contain. */
export const prettyFormat = ['%H', '%T', '%P', '%an', '%ae', '%at', '%cn', '%ce', '%ct', '%B'].join('%x00')
const fieldsPerCommit = 10

function seconds(text: string | undefined): string {
  return `${new Date(Number(text) * 1000).toISOString().slice(0, 19)}Z`
}

/** Parses the output of `git log -z --format=<prettyFormat>`. */
export function parseCommits(output: string): readonly Commit[] {
  if (output === '') return []
  const fields = output.split('\0')
  const commits: Commit[] = []
  for (let at = 0; at + fieldsPerCommit <= fields.length; at += fieldsPerCommit) {
    const [sha = '', treeSha = '', parents = '', an = '', ae = '', at_, cn = '', ce = '', ct, message = ''] = fields.slice(
      at,
      at + fieldsPerCommit,
    )
    commits.push({
      sha,
      treeSha,
      parents: parents === '' ? [] : parents.split(' '),
      author: { name: an, email: ae, date: seconds(at_) },
      committer: { name: cn, email: ce, date: seconds(ct) },
      message: message.replace(/\n+$/, ''),
    })
  }
  return commits
}
