// A branch of acme/shop that belongs to one test: dave pushes versions of the example shop to it with git, and deletes it again.
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { DemoContext } from '../../dev/demo/context.ts'
import { gitCredential, mustRun } from '../../dev/demo/tools.ts'

export type Branch = {
  readonly name: string
  /** Pushes the example shop with this title on its page and these files changed; resolves to the commit. */
  readonly push: (title: string, files: Readonly<Record<string, string>>) => Promise<string>
  /** The title that only the source of this commit has. */
  readonly titleOf: (commit: string) => string
  readonly delete: () => Promise<void>
}

/** Starts with an empty history: a branch of an earlier run is overwritten. */
export async function openBranch(world: DemoContext, name: string): Promise<Branch> {
  const { dave } = world.people
  const folder = join(dave.home, name)
  const credential = gitCredential('dave', world.personalTokens['dave'] ?? '')
  const git = (args: readonly string[]): Promise<string> => mustRun(dave, 'git', args, { folder, environment: credential })
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  await git(['init', '--quiet', '--initial-branch', name])
  await git(['remote', 'add', 'origin', `${world.githubWeb}/acme/shop.git`])
  const titles = new Map<string, string>()
  return {
    name,
    titleOf: commit => titles.get(commit) ?? 'a commit that was not pushed here',
    async push(title, files) {
      await cp(join(world.repository, 'deploy/examples/shop/app'), folder, { recursive: true })
      const server = join(folder, 'server.js')
      await writeFile(server, (await readFile(server, 'utf8')).replace(/const title = '.*'/, `const title = '${title}'`))
      for (const [path, content] of Object.entries(files)) {
        await mkdir(dirname(join(folder, path)), { recursive: true })
        await writeFile(join(folder, path), content)
      }
      await git(['add', '--all'])
      const author = ['-c', 'user.name=Dave', '-c', 'user.email=dave@example.test']
      await git([...author, 'commit', '--quiet', '-m', title])
      await git(['push', '--quiet', '--force', 'origin', `HEAD:refs/heads/${name}`])
      const commit = await git(['rev-parse', 'HEAD'])
      titles.set(commit, title)
      return commit
    },
    async delete() {
      await git(['push', '--quiet', 'origin', `:refs/heads/${name}`])
    },
  }
}
