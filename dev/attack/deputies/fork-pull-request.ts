// noah’s fork of globex’s repository and his pull request from it. He may read the repository, and no more.
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gitCredential, mustRun } from '../../demo/tools.ts'
import type { World } from '../world/world.ts'

const fork = 'noah/attack-fork'
const branch = 'surprise'

export type ForkedPullRequest = { readonly number: number; readonly headCommit: string }

type GitHubRequest = { readonly body?: object; readonly mayBeGone?: true }

/** `request` is a method and a path, sent with the person's own token. Rejects when GitHub refuses. */
export async function github(world: World, login: string, request: string, { body, mayBeGone }: GitHubRequest = {}) {
  const [method = '', path = ''] = request.split(' ')
  const answer = await world.http.send(`${world.demo.githubWeb}/api/v3${path}`, {
    method,
    headers: {
      authorization: `token ${world.demo.personalTokens[login] ?? ''}`,
      'content-type': 'application/json',
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  if (answer.status >= 300 && !(mayBeGone && answer.status === 404))
    throw new Error(`${login}: ${request}: ${answer.status} ${answer.text.slice(0, 200)}`)
  return answer.text === '' ? undefined : JSON.parse(answer.text)
}

/** Resolves to the new head of the pull request. */
export async function pushToFork(world: World): Promise<string> {
  const { noah } = world.demo.people
  const folder = join(noah.home, 'attack-fork')
  const git = (args: readonly string[]) =>
    mustRun(noah, 'git', args, { folder, environment: gitCredential('noah', world.demo.personalTokens['noah'] ?? '') })
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  await git(['clone', '--quiet', `${world.demo.githubWeb}/${fork}.git`, '.'])
  await writeFile(join(folder, 'surprise.js'), `// ${new Date().toISOString()}\n`)
  await git(['add', '--all'])
  await git(['-c', 'user.name=Noah', '-c', 'user.email=noah@example.test', 'commit', '--quiet', '-m', 'A small improvement'])
  await git(['push', '--quiet', '--force', 'origin', `HEAD:refs/heads/${branch}`])
  return (await git(['rev-parse', 'HEAD'])).trim()
}

async function openPullRequest(world: World): Promise<ForkedPullRequest> {
  // gary pushes for it, once: not between the fork and its pull request, which would then conflict.
  await world.ownImage()
  await github(world, 'gary', 'PUT /repos/globex/site/collaborators/noah', { body: { permission: 'pull' } })
  await github(world, 'noah', `DELETE /repos/${fork}`, { mayBeGone: true })
  await github(world, 'noah', 'POST /repos/globex/site/forks', { body: { name: 'attack-fork' } })
  const headCommit = await pushToFork(world)
  const body = { title: 'A small improvement', head: `noah:${branch}`, base: 'main' }
  const { number } = await github(world, 'noah', 'POST /repos/globex/site/pulls', { body })
  return { number, headCommit }
}

async function withdraw(world: World, number: number): Promise<void> {
  await github(world, 'gary', `PATCH /repos/globex/site/pulls/${number}`, { body: { state: 'closed' } })
  await github(world, 'noah', `DELETE /repos/${fork}`)
  await github(world, 'gary', 'DELETE /repos/globex/site/collaborators/noah')
}

/**
 * A person has one fork of a repository, and attempts run at the same time: each of `users` gets the same pull request, which
 * is closed, and the fork deleted, after the last of them.
 */
export function sharedPullRequest(world: World, users: number) {
  let opened: Promise<ForkedPullRequest> | undefined
  let left = users
  return async <T>(use: (pullRequest: ForkedPullRequest) => Promise<T>): Promise<T> => {
    try {
      opened ??= openPullRequest(world)
      return await use(await opened)
    } finally {
      left -= 1
      if (left === 0 && opened !== undefined) await withdraw(world, (await opened).number)
    }
  }
}
