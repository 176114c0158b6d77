// A pull request from a fork: its code belongs to whoever owns the fork. noah gets read access to globex’s repository, forks it, and opens a
// pull request; a RemoteSync that follows the pull request must not build it.
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gitCredential, mustRun } from '../../demo/tools.ts'
import type { Attack } from '../attack.ts'
import type { World } from '../world/world.ts'
import { syncAttempt } from './deputies.ts'

const fork = 'noah/attack-fork'
const branch = 'surprise'

type GitHubRequest = { readonly body?: object; readonly mayBeGone?: true }

/** `request` is a method and a path, sent with the person's own token. Rejects when GitHub refuses. */
async function github(world: World, login: string, request: string, { body, mayBeGone }: GitHubRequest = {}) {
  const [method = '', path = ''] = request.split(' ')
  const answer = await world.http.send(`${world.demo.githubWeb}/api/v3${path}`, {
    method,
    headers: {
      authorization: `token ${world.demo.personalTokens[login] ?? ''}`,
      'content-type': 'application/json',
      'user-agent': 'attack',
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  if (answer.status >= 300 && !(mayBeGone && answer.status === 404))
    throw new Error(`${login}: ${request}: ${answer.status} ${answer.text.slice(0, 200)}`)
  return answer.text === '' ? undefined : JSON.parse(answer.text)
}

async function pushToFork(world: World): Promise<void> {
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
}

async function openPullRequest(world: World): Promise<number> {
  await github(world, 'gary', 'PUT /repos/globex/site/collaborators/noah', { body: { permission: 'pull' } })
  await github(world, 'noah', `DELETE /repos/${fork}`, { mayBeGone: true })
  await github(world, 'noah', 'POST /repos/globex/site/forks', { body: { name: 'attack-fork' } })
  await pushToFork(world)
  const body = { title: 'A small improvement', head: `noah:${branch}`, base: 'main' }
  const { number } = await github(world, 'noah', 'POST /repos/globex/site/pulls', { body })
  return number
}

async function withdraw(world: World, number: number): Promise<void> {
  await github(world, 'gary', `PATCH /repos/globex/site/pulls/${number}`, { body: { state: 'closed' } })
  await github(world, 'noah', `DELETE /repos/${fork}`)
  await github(world, 'gary', 'DELETE /repos/globex/site/collaborators/noah')
}

export const forkAttacks: readonly Attack[] = [
  {
    name: 'deputies/forks',
    as: 'noah, who owns a fork, through a RemoteSync of globex',
    against: 'globex, whose platform would build a stranger’s code',
    tries: 'A pull request from a fork is built without approval.',
    expected: ['controller', 'admission', 'schema'],
    attempts(world) {
      const sources = [
        { what: 'a pull request from his fork', name: 'attack-fork', source: {} },
        { what: 'the merge commit of a pull request from his fork', name: 'attack-fork-merge', source: { mergeCommit: true } },
      ]
      // Attempts run at the same time, and a person has one fork of a repository.
      let pullRequest: Promise<number> | undefined
      let running = sources.length
      return sources.map(({ what, name, source }) => ({
        name: `noah: ${what}`,
        async run() {
          try {
            pullRequest ??= openPullRequest(world)
            const number = await pullRequest
            return await syncAttempt(world, name, `RemoteSync of ${what}`, { source: { pullRequest: number, ...source } }).run()
          } finally {
            running -= 1
            if (running === 0 && pullRequest !== undefined) await withdraw(world, await pullRequest)
          }
        },
      }))
    },
  },
]
