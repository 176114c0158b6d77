// A repository of globex with pull requests from noah’s fork of it, each on a branch of its own, and those who may speak there.
// Its commits name a submodule, so that the source store refuses them: approvals are tried, and nothing is built.
import { createSign } from 'node:crypto'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { neighbourNamespace } from '../../demo/context.ts'
import { gitCredential, mustRun } from '../../demo/tools.ts'
import { readLocalGitHub } from '../../up/github.ts'
import { groupPath } from '../cluster/api-attempts.ts'
import { github } from '../deputies/fork-pull-request.ts'
import type { Shown } from '../deputies/object-attempts.ts'
import { attackUserAgent } from '../world/http.ts'
import type { World } from '../world/world.ts'

export const repository = 'globex/attack-approvals'
const fork = 'noah/attack-approvals'

/** `next` is a commit on top of the head that nobody has pushed yet. */
export type Discussed = { readonly branch: string; readonly number: number; readonly head: string; readonly next: string }

const folderOf = ({ demo }: World): string => join(demo.people.noah.home, 'attack-approvals')

function git(world: World, login: 'noah' | 'gary', folder: string, args: readonly string[]): Promise<string> {
  const environment = {
    ...gitCredential(login, world.demo.personalTokens[login] ?? ''),
    GIT_AUTHOR_NAME: login,
    GIT_AUTHOR_EMAIL: `${login}@example.test`,
    GIT_COMMITTER_NAME: login,
    GIT_COMMITTER_EMAIL: `${login}@example.test`,
  }
  return mustRun(world.demo.people[login], 'git', args, { folder, environment })
}

/** gary’s commit, on which all pull requests are based. */
async function pushBase(world: World): Promise<void> {
  const folder = join(world.demo.people.gary.home, 'attack-approvals')
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  const run = (args: readonly string[]) => git(world, 'gary', folder, args)
  await run(['init', '--quiet', '--initial-branch', 'main'])
  await writeFile(
    join(folder, '.gitmodules'),
    '[submodule "missing"]\n\tpath = missing\n\turl = https://github.localhost/globex/missing\n',
  )
  await run(['add', '--all'])
  await run(['update-index', '--add', '--cacheinfo', `160000,${'a'.repeat(40)},missing`])
  await run(['commit', '--quiet', '-m', 'A site that is not complete'])
  await run(['push', '--quiet', '--force', `${world.demo.githubWeb}/${repository}.git`, 'HEAD:refs/heads/main'])
}

async function commitOn(world: World, branch: string, text: string): Promise<string> {
  const folder = folderOf(world)
  await writeFile(join(folder, 'page.txt'), `${branch} ${text}\n`)
  await git(world, 'noah', folder, ['add', 'page.txt'])
  await git(world, 'noah', folder, ['commit', '--quiet', '-m', text])
  return (await git(world, 'noah', folder, ['rev-parse', 'HEAD'])).trim()
}

/** Creates everything anew; `removeRepository` takes it away. */
export async function openPullRequests(world: World, branches: readonly string[]): Promise<readonly Discussed[]> {
  await removeRepository(world)
  await github(world, 'gary', 'POST /orgs/globex/repos', { body: { name: 'attack-approvals', private: true, auto_init: true } })
  await pushBase(world)
  for (const login of ['noah', 'dave', 'mia'])
    await github(world, 'gary', `PUT /repos/${repository}/collaborators/${login}`, { body: { permission: 'pull' } })
  await github(world, 'noah', `POST /repos/${repository}/forks`, { body: { name: 'attack-approvals' } })
  const folder = folderOf(world)
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  await git(world, 'noah', folder, ['clone', '--quiet', `${world.demo.githubWeb}/${fork}.git`, '.'])
  const made: Discussed[] = []
  for (const branch of branches) {
    await git(world, 'noah', folder, ['switch', '--quiet', '--create', branch, 'origin/main'])
    const head = await commitOn(world, branch, 'A small improvement')
    await git(world, 'noah', folder, ['push', '--quiet', 'origin', `${head}:refs/heads/${branch}`])
    const next = await commitOn(world, branch, 'Another one')
    const body = { title: branch, head: `noah:${branch}`, base: 'main' }
    const { number } = await github(world, 'noah', `POST /repos/${repository}/pulls`, { body })
    made.push({ branch, number, head, next })
  }
  return made
}

/** noah pushes the commit that only he knew. */
export async function pushNext(world: World, { branch, next }: Discussed): Promise<void> {
  await git(world, 'noah', folderOf(world), ['push', '--quiet', 'origin', `${next}:refs/heads/${branch}`])
}

export async function removeRepository(world: World): Promise<void> {
  await github(world, 'noah', `DELETE /repos/${fork}`, { mayBeGone: true })
  await github(world, 'gary', `DELETE /repos/${repository}`, { mayBeGone: true })
}

export const comment = (world: World, login: string, number: number, body: string): Promise<{ readonly id: number }> =>
  github(world, login, `POST /repos/${repository}/issues/${number}/comments`, { body: { body } })

/** What a bot sends: as an App that may write to pull requests of globex, which the one of the platform stands for. */
export type Bot = (request: string, body: object) => Promise<void>

export async function openBot(world: World): Promise<Bot> {
  const { api, appId, privateKey } = await readLocalGitHub(world.settings)
  const path = `${groupPath('github.sekisho.dev/v1alpha1', neighbourNamespace, 'installations')}/github`
  const { spec } = (await world.admin.call('GET', path)) as Shown
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const now = Math.floor(Date.now() / 1000)
  const unsigned = `${part({ alg: 'RS256', typ: 'JWT' })}.${part({ iat: now - 10, exp: now + 300, iss: appId })}`
  const jwt = `${unsigned}.${createSign('RSA-SHA256').update(unsigned).sign(privateKey, 'base64url')}`
  // Not by `world.http`: it would take the token for one that an attacker saw.
  const send = async (method: string, url: string, authorization: string, body: object): Promise<unknown> => {
    const headers = { authorization, 'content-type': 'application/json', 'user-agent': attackUserAgent }
    const answer = await fetch(`${api}${url}`, { method, headers, body: JSON.stringify(body) })
    if (!answer.ok) throw new Error(`the bot: ${method} ${url}: ${answer.status}`)
    return answer.json()
  }
  const { token } = (await send('POST', `/app/installations/${String(spec['installationId'])}/access_tokens`, `Bearer ${jwt}`, {
    permissions: { pull_requests: 'write' },
  })) as { readonly token: string }
  return async (request, body) => {
    const [method = '', url = ''] = request.split(' ')
    await send(method, url, `token ${token}`, body)
  }
}
