// A branch of acme/shop that belongs to one test: dave pushes versions of the example shop to it with git, and deletes it again.
import { cp, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { DemoContext } from '../../dev/demo/context.ts'
import { gitCredential, mustRun } from '../../dev/demo/tools.ts'

export type Branch = {
  readonly name: string
  /** Pushes the example shop with these files changed; resolves to the commit. */
  readonly push: (title: string, files: Readonly<Record<string, string>>) => Promise<string>
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
  return {
    name,
    async push(title, files) {
      await cp(join(world.repository, 'deploy/examples/shop/app'), folder, { recursive: true })
      for (const [path, content] of Object.entries(files)) await writeFile(join(folder, path), content)
      await git(['add', '--all'])
      const author = ['-c', 'user.name=Dave', '-c', 'user.email=dave@example.test']
      await git([...author, 'commit', '--quiet', '--allow-empty', '-m', title])
      await git(['push', '--quiet', '--force', 'origin', `HEAD:refs/heads/${name}`])
      return git(['rev-parse', 'HEAD'])
    },
    async delete() {
      await git(['push', '--quiet', 'origin', `:refs/heads/${name}`])
    },
  }
}
