// Owns: how refs, trees, blobs, tags and files look in JSON. Pure.
import type { Context } from '../context.ts'
import type { Commit } from '../git/commit.ts'
import type { Tag, TreeEntry } from '../git/objects.ts'
import { nodeId } from '../links.ts'
import type { Repository } from '../state/repositories.ts'
import { fullName } from '../state/world.ts'
import { commitView } from './commit.ts'

type View = Pick<Context, 'links' | 'world'>

const apiOf = ({ links, world }: View, repository: Repository): string => links.api(`/repos/${fullName(world, repository)}`)
const webOf = ({ links, world }: View, repository: Repository): string => links.web(`/${fullName(world, repository)}`)
const encodePath = (path: string): string => path.split('/').map(encodeURIComponent).join('/')

/** OpenAPI `git-ref`; `type` is that of the object that the ref points at. */
export const refView = (view: View, repository: Repository, ref: string, sha: string, type: string) => ({
  ref,
  node_id: nodeId('Ref', `${repository.id}:${ref}`),
  url: `${apiOf(view, repository)}/git/${ref}`,
  object: { sha, type, url: `${apiOf(view, repository)}/git/${type}s/${sha}` },
})

/** OpenAPI `git-commit`. */
export const gitCommitView = (view: View, repository: Repository, commit: Commit) => {
  const { verification, comment_count: _count, ...inner } = commitView(view, repository, commit).commit
  return {
    sha: commit.sha,
    node_id: nodeId('Commit', `${repository.id}:${commit.sha}`),
    ...inner,
    html_url: `${webOf(view, repository)}/commit/${commit.sha}`,
    parents: commit.parents.map(sha => ({
      sha,
      url: `${apiOf(view, repository)}/git/commits/${sha}`,
      html_url: `${webOf(view, repository)}/commit/${sha}`,
    })),
    verification,
  }
}

/** OpenAPI `git-tree`. */
export const treeView = (view: View, repository: Repository, sha: string, entries: readonly TreeEntry[], truncated: boolean) => ({
  sha,
  url: `${apiOf(view, repository)}/git/trees/${sha}`,
  tree: entries.map(one => ({
    path: one.path,
    mode: one.mode,
    type: one.type,
    sha: one.sha,
    ...(one.size === undefined ? {} : { size: one.size }),
    ...(one.type === 'commit' ? {} : { url: `${apiOf(view, repository)}/git/${one.type}s/${one.sha}` }),
  })),
  truncated,
})

/** OpenAPI `blob`. */
export const blobView = (view: View, repository: Repository, sha: string, content: Buffer) => ({
  sha,
  node_id: nodeId('Blob', `${repository.id}:${sha}`),
  size: content.length,
  url: `${apiOf(view, repository)}/git/blobs/${sha}`,
  content: wrapped(content),
  encoding: 'base64',
})

/** OpenAPI `git-tag`. */
export const gitTagView = (view: View, repository: Repository, sha: string, tag: Tag) => ({
  node_id: nodeId('Tag', `${repository.id}:${sha}`),
  tag: tag.name,
  sha,
  url: `${apiOf(view, repository)}/git/tags/${sha}`,
  message: tag.message,
  tagger: tag.tagger,
  object: { sha: tag.sha, type: tag.type, url: `${apiOf(view, repository)}/git/${tag.type}s/${tag.sha}` },
  verification: { verified: false, reason: 'unsigned', signature: null, payload: null, verified_at: null },
})

/** OpenAPI `tag`: a name and the commit behind it. */
export const tagView = (view: View, repository: Repository, name: string, sha: string) => {
  const url = apiOf(view, repository)
  return {
    name,
    commit: { sha, url: `${url}/commits/${sha}` },
    zipball_url: `${url}/zipball/refs/tags/${name}`,
    tarball_url: `${url}/tarball/refs/tags/${name}`,
    node_id: nodeId('Ref', `${repository.id}:refs/tags/${name}`),
  }
}

const kinds: Readonly<Record<TreeEntry['type'], string>> = { blob: 'file', tree: 'dir', commit: 'submodule' }

/** What a file, folder, link or submodule shows in a list of its folder; `ref` is what the caller asked for. */
export const contentEntry = (view: View, repository: Repository, ref: string, entry: TreeEntry) => {
  const path = encodePath(entry.path)
  const self = `${apiOf(view, repository)}/contents/${path}?ref=${encodeURIComponent(ref)}`
  const folder = entry.type === 'tree'
  const git = entry.type === 'commit' ? null : `${apiOf(view, repository)}/git/${folder ? 'trees' : 'blobs'}/${entry.sha}`
  const html = `${webOf(view, repository)}/${folder ? 'tree' : 'blob'}/${encodeURIComponent(ref)}/${path}`
  return {
    type: entry.mode === '120000' ? 'symlink' : kinds[entry.type],
    size: entry.size ?? 0,
    name: entry.path.slice(entry.path.lastIndexOf('/') + 1),
    path: entry.path,
    sha: entry.sha,
    url: self,
    git_url: git,
    html_url: html,
    download_url: entry.type === 'blob' ? `${webOf(view, repository)}/raw/${encodeURIComponent(ref)}/${path}` : null,
    _links: { self, git, html },
  }
}

/** Base64 in lines of 60, as GitHub sends it. */
const wrapped = (content: Buffer): string => content.toString('base64').replace(/.{60}/g, '$&\n')

/** Beyond this a file is shown without its content. */
const largestInline = 1024 * 1024

/** OpenAPI `content-file` and `content-symlink`. */
export const contentFile = (view: View, repository: Repository, ref: string, entry: TreeEntry, content: Buffer) => {
  const base = contentEntry(view, repository, ref, entry)
  if (entry.mode === '120000') return { ...base, target: content.toString('utf8') }
  const small = content.length <= largestInline
  return { ...base, content: small ? wrapped(content) : '', encoding: small ? 'base64' : 'none' }
}

/** OpenAPI `file-commit`: what a changed file looks like now, and the commit that did it. */
export const fileCommitView = (
  view: View,
  repository: Repository,
  branch: string,
  entry: TreeEntry | undefined,
  commit: Commit,
) => {
  const { comment_count: _count, ...inner } = commitView(view, repository, commit).commit
  return {
    content: entry ? contentEntry(view, repository, branch, entry) : null,
    commit: { ...gitCommitView(view, repository, commit), ...inner, url: `${apiOf(view, repository)}/git/commits/${commit.sha}` },
  }
}
