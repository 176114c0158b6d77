// A push to GitHub with git: the example of this repository, with some of its files changed.
import { cp, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type DemoContext, tenantNamespace } from './context.ts'
import { gitCredential, mustRun, type Person } from './tools.ts'

export type ExamplePush = {
  /** The name of the repository in the organization, and of the folder below deploy/examples. */
  readonly name: string
  /** Path → content of what differs from the example. */
  readonly files: Readonly<Record<string, string>>
  readonly message: string
  /** When omitted, `main`; another one is made of it, or overwritten. */
  readonly branch?: string
  /** The repository that is pushed to, when it is not that of the organization. */
  readonly fork?: string
}

/** Pushes as that person; resolves to the commit. */
export async function pushExample(
  demo: DemoContext,
  who: Person,
  { name, files, message, branch = 'main', fork }: ExamplePush,
): Promise<string> {
  const folder = join(who.home, name)
  const environment = gitCredential(who.login, demo.personalTokens[who.login] ?? '')
  const git = (args: readonly string[]) => mustRun(who, 'git', args, { folder, environment })
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  await git(['clone', '--quiet', `${demo.githubWeb}/${fork ?? `${tenantNamespace}/${name}`}.git`, '.'])
  await cp(join(demo.repository, 'deploy/examples', name, 'app'), folder, { recursive: true })
  for (const [path, content] of Object.entries(files)) await writeFile(join(folder, path), content)
  await git(['add', '--all'])
  const author = ['-c', `user.name=${who.login}`, '-c', `user.email=${who.login}@example.test`]
  await git([...author, 'commit', '--quiet', '--allow-empty', '-m', message])
  await git(['push', '--quiet', ...(branch === 'main' ? [] : ['--force']), 'origin', `HEAD:refs/heads/${branch}`])
  return git(['rev-parse', 'HEAD'])
}
