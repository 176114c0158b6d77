// Owns: how a changed file looks in JSON. Pure.
import type { Context } from '../context.ts'
import type { FileChange } from '../git/diff.ts'
import type { Repository } from '../state/repositories.ts'
import { fullName } from '../state/world.ts'

/** Longest patch that is shown; GitHub leaves longer ones out too. */
const longestPatch = 200_000

/** OpenAPI `diff-entry`; `sha` is the commit that the file is shown at. */
export const fileView = (
  { links, world }: Pick<Context, 'links' | 'world'>,
  repository: Repository,
  sha: string,
  file: FileChange,
) => {
  const name = fullName(world, repository)
  const path = file.path.split('/').map(encodeURIComponent).join('/')
  return {
    sha: file.sha,
    filename: file.path,
    status: file.status,
    additions: file.additions,
    deletions: file.deletions,
    changes: file.additions + file.deletions,
    blob_url: links.web(`/${name}/blob/${sha}/${path}`),
    raw_url: links.web(`/${name}/raw/${sha}/${path}`),
    contents_url: links.api(`/repos/${name}/contents/${path}?ref=${sha}`),
    ...(file.patch === undefined || file.patch.length > longestPatch ? {} : { patch: file.patch }),
    ...(file.previousPath === undefined ? {} : { previous_filename: file.previousPath }),
  }
}
