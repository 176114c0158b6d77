// Commits that git itself would not make: trees with any names, as `git mktree` writes them. gary pushes them to branches of
// globex/site.
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { defined } from '../../../src/lib/json/defined.ts'
import { gitCredential, mustRun } from '../../demo/tools.ts'
import type { World } from '../world/world.ts'

/** A file by its content, a symbolic link, a folder, or a commit of another repository. */
export type Entry = string | { readonly link: string } | { readonly submodule: string } | Entries
/** A list, because a name may be there twice. */
export type Entries = readonly (readonly [name: string, entry: Entry])[]

type Git = (args: readonly string[], input?: string) => Promise<string>

async function lineOf(git: Git, name: string, entry: Entry): Promise<string> {
  const blob = (content: string) => git(['hash-object', '-w', '--stdin'], content)
  if (typeof entry === 'string') return `100644 blob ${await blob(entry)}\t${name}`
  if ('link' in entry) return `120000 blob ${await blob(entry.link)}\t${name}`
  if ('submodule' in entry) return `160000 commit ${entry.submodule}\t${name}`
  return `040000 tree ${await treeOf(git, entry)}\t${name}`
}

async function treeOf(git: Git, entries: Entries): Promise<string> {
  const lines: string[] = []
  for (const [name, entry] of entries) lines.push(await lineOf(git, name, entry))
  return git(['mktree', '-z'], lines.map(line => `${line}\0`).join(''))
}

/**
 * One branch for each tree, by its name; all are pushed at once and replace what was there. Resolves to the commits, in the
 * same order.
 */
export async function pushTrees(world: World, trees: ReadonlyMap<string, Entries>): Promise<readonly string[]> {
  const { gary } = world.demo.people
  const folder = join(gary.home, 'attack-trees')
  const environment = {
    ...gitCredential('gary', world.demo.personalTokens['gary'] ?? ''),
    GIT_AUTHOR_NAME: 'Gary',
    GIT_AUTHOR_EMAIL: 'gary@example.test',
    GIT_COMMITTER_NAME: 'Gary',
    GIT_COMMITTER_EMAIL: 'gary@example.test',
  }
  const git: Git = (args, input) => mustRun(gary, 'git', args, { folder, environment, ...defined({ input }) })
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  await git(['init', '--quiet', '--bare'])
  const commits: string[] = []
  for (const entries of trees.values()) commits.push(await git(['commit-tree', '-m', 'A tree', await treeOf(git, entries)]))
  const references = [...trees.keys()].map((branch, index) => `+${commits[index]}:refs/heads/${branch}`)
  await git(['push', '--quiet', `${world.demo.githubWeb}/globex/site.git`, ...references])
  return commits
}
