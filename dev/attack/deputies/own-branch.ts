// A branch of globex/site with exactly these files, pushed by gary.
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { gitCredential, mustRun } from '../../demo/tools.ts'
import type { World } from '../world/world.ts'

/** A file by its content; `link` makes a symbolic link; `submodule` an entry for that commit of another repository. */
export type Content = string | { readonly link: string } | { readonly submodule: string }

/** Resolves to the commit, which has no parent and replaces what the branch had. */
export async function pushBranch(world: World, branch: string, files: Readonly<Record<string, Content>>): Promise<string> {
  const { gary } = world.demo.people
  const folder = join(gary.home, branch)
  const git = (args: readonly string[]) =>
    mustRun(gary, 'git', args, { folder, environment: gitCredential('gary', world.demo.personalTokens['gary'] ?? '') })
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  await git(['init', '--quiet', '--initial-branch', branch])
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    if (typeof content === 'string') await writeFile(join(folder, path), content)
    else if ('link' in content) await symlink(content.link, join(folder, path))
  }
  await git(['add', '--all'])
  for (const [path, content] of Object.entries(files))
    if (typeof content === 'object' && 'submodule' in content)
      await git(['update-index', '--add', '--cacheinfo', `160000,${content.submodule},${path}`])
  const author = ['-c', 'user.name=Gary', '-c', 'user.email=gary@example.test']
  await git([...author, 'commit', '--quiet', '-m', 'A dependency that many use'])
  await git(['push', '--quiet', '--force', `${world.demo.githubWeb}/globex/site.git`, `HEAD:refs/heads/${branch}`])
  return (await git(['rev-parse', 'HEAD'])).trim()
}
