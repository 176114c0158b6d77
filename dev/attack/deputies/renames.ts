// Names on GitHub that change hands: a repository is renamed, and another one takes its name. What follows the repository goes
// on by its number; what is new under the old name is a repository of its own.
import { setTimeout as pause } from 'node:timers/promises'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { neighbourNamespace } from '../../demo/context.ts'
import type { Attack, Attempt } from '../attack.ts'
import { groupPath } from '../cluster/api-attempts.ts'
import { judgeApi } from '../judge.ts'
import { stopped, succeeded, unclear, type Verdict } from '../verdict.ts'
import { applicationsPath, type World } from '../world/world.ts'
import { github } from './fork-pull-request.ts'
import { emptyApplication, remoteSync } from './manifests.ts'
import type { Shown } from './object-attempts.ts'

const syncs = groupPath('apps.sekisho.dev/v1alpha1', neighbourNamespace, 'remotesyncs')
const grants = groupPath('github.sekisho.dev/v1alpha1', neighbourNamespace, 'repositorygrants')
const name = 'attack-renamed'
const [old, between, moved] = ['globex/attack-renamed', 'globex/attack-moved', 'globex/attack-moved-again']
const seconds = 60

type Followed = { readonly id: number; readonly name: string }

async function remove(world: World): Promise<void> {
  for (const repository of [moved, between, old]) await github(world, 'gary', `DELETE /repos/${repository}`, { mayBeGone: true })
}

/** Resolves to its number. The description is in its first commit, which has no other that was made in the same second. */
async function create(world: World, description: string): Promise<number> {
  const body = { name, description, private: true, auto_init: true }
  const { id } = (await github(world, 'gary', 'POST /orgs/globex/repos', { body })) as { readonly id: number }
  return id
}

const commitOf = async (world: World, repository: string): Promise<string> => {
  const { sha } = (await github(world, 'gary', `GET /repos/${repository}/commits/main`)) as { readonly sha: string }
  return sha
}

/** A RemoteSync and a grant of the repository, both of which have found it. */
async function follow(world: World): Promise<void> {
  const grant = {
    apiVersion: 'github.sekisho.dev/v1alpha1',
    kind: 'RepositoryGrant',
    metadata: { name },
    spec: {
      installation: 'github',
      repositories: [old],
      permissions: { contents: 'read' },
      subjects: [{ kind: 'ServiceAccount', name: 'default' }],
      reason: 'attack',
    },
  }
  const made = [
    [applicationsPath, emptyApplication(name)],
    [syncs, remoteSync(name, { repository: old })],
    [grants, grant],
  ] as const
  for (const [path, json] of made) {
    await world.journal.note({ kind: 'object', path: `${path}/${name}` })
    const answer = await world.api('gary', 'POST', path, { json })
    if (answer.status !== 201) throw new Error(`gary cannot follow a repository of his own: ${judgeApi(answer).evidence}`)
  }
}

async function statusOf(world: World, path: string): Promise<Readonly<Record<string, unknown>>> {
  return ((await world.admin.call('GET', `${path}/${name}`)) as Shown).status ?? {}
}

/** Ends as soon as what follows knows the last name of its repository, which it got after the old one was taken. */
async function watched(world: World, first: number, second: string): Promise<Verdict> {
  for (const deadline = Date.now() + seconds * 1000; Date.now() < deadline; await pause(200)) {
    const [sync, grant] = await Promise.all([statusOf(world, syncs), statusOf(world, grants)])
    const followed = sync['repository'] as Followed | undefined
    const granted = (grant['repositories'] ?? []) as readonly Followed[]
    if (followed?.id !== first || sync['commit'] === second)
      return succeeded(`the RemoteSync took ${JSON.stringify(followed)} at ${String(sync['commit'])} instead of ${first}`)
    if (granted.some(({ id }) => id !== first)) return succeeded(`the grant took ${JSON.stringify(granted)} instead of ${first}`)
    if (followed.name === moved)
      return stopped('controller', `followed by number: ${JSON.stringify(followed)}, ${String(sync['commit'])}`)
  }
  return unclear(JSON.stringify((await statusOf(world, syncs))['repository']))
}

function renamed(world: World): Attempt {
  return {
    name: 'gary: a repository is renamed, and another one takes its name',
    async run() {
      await remove(world)
      const first = await create(world, 'the first')
      try {
        await follow(world)
        await waitUntil(
          'the repository to be found',
          async () => {
            const { repository, commit } = await statusOf(world, syncs)
            const granted = (await statusOf(world, grants))['decision'] === 'Approved'
            return (repository as Followed | undefined)?.id === first && commit !== undefined && granted ? true : undefined
          },
          { timeoutMilliseconds: seconds * 1000 },
        )
        await github(world, 'gary', `PATCH /repos/${old}`, { body: { name: 'attack-moved' } })
        await create(world, 'another one under its name')
        // A webhook notifies what follows the repository, after the old name has been taken.
        await github(world, 'gary', `PATCH /repos/${between}`, { body: { name: 'attack-moved-again' } })
        return await watched(world, first, await commitOf(world, old))
      } finally {
        for (const path of [syncs, applicationsPath, grants]) await world.admin.request('DELETE', `${path}/${name}`)
        await remove(world)
      }
    },
  }
}

export const renameAttacks: readonly Attack[] = [
  {
    name: 'deputies/renames',
    as: 'whoever takes the name that a repository had',
    against: 'what followed the repository under that name',
    tries: 'Creates another repository under the old name, to be built and to be in the tokens of a grant.',
    expected: ['controller'],
    peer: 'repojacking: names of repositories that were taken again',
    form: 'long',
    attempts: world => [renamed(world)],
  },
]
