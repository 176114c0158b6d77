// The git proxy, from a pod of globex: repositories of acme, and refs that no workload may push, without a token of GitHub.
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { neighbourNamespace } from '../../demo/context.ts'
import type { Attack, Attempt } from '../attack.ts'
import { corePath, groupPath } from '../cluster/api-attempts.ts'
import { judgeGitProxy } from '../judge.ts'
import { unclear } from '../verdict.ts'
import type { World } from '../world/world.ts'
import { makePod, tokenFor } from './desk.ts'
import { requireControls } from './network.ts'

const proxy = 'https://sekisho-git-proxy.sekisho-system.svc/github.localhost'
const audience = 'sekisho'
const patience = 10_000
const ownGrant = 'attack-git'
const fetching = '/info/refs?service=git-upload-pack'
const pushing = '/info/refs?service=git-receive-pack'

type Ask = { readonly grant: string; readonly bearer: string; readonly path: string }

function attempt(world: World, name: string, { grant, bearer, path }: Ask): Attempt {
  const authorization = `Basic ${Buffer.from(`${grant}:${bearer}`).toString('base64')}`
  return {
    name: `pod of globex: ${name}`,
    async run() {
      const result = await world.probe({
        ...{ kind: 'http', url: `${proxy}${path}`, method: 'GET', milliseconds: patience },
        headers: { authorization, 'git-protocol': 'version=2' },
      })
      return result.kind === 'answered' ? judgeGitProxy(result) : unclear(JSON.stringify(result))
    },
  }
}

/** A grant of gary's own, by which a pod of his may fetch globex/site. */
async function prepare(world: World): Promise<string> {
  await requireControls(world)
  const grants = groupPath('github.sekisho.dev/v1alpha1', neighbourNamespace, 'repositorygrants')
  await world.journal.note({ kind: 'object', path: `${grants}/${ownGrant}` })
  const spec = {
    installation: 'github',
    repositories: ['globex/site'],
    permissions: { contents: 'read' },
    subjects: [{ kind: 'ServiceAccount', name: 'default' }],
    delivery: 'GitProxy',
    reason: 'attack',
  }
  await world.api('gary', 'POST', grants, {
    json: { apiVersion: 'github.sekisho.dev/v1alpha1', kind: 'RepositoryGrant', metadata: { name: ownGrant }, spec },
  })
  await waitUntil('the grant of globex to be approved', async () => {
    const { status } = (await world.admin.call('GET', `${grants}/${ownGrant}`)) as { status?: { decision?: string } }
    return status?.decision === 'Approved'
  })
  const pod = await makePod(world, 'attack-git', 'default')
  await waitUntil('the pod of globex to run', async () => {
    const { status } = (await world.admin.call('GET', `${corePath(neighbourNamespace, 'pods')}/${pod.name}`)) as {
      status?: { phase?: string }
    }
    return status?.phase === 'Running'
  })
  return tokenFor(world, pod, [audience])
}

async function gitAttempts(world: World): Promise<readonly Attempt[]> {
  const bearer = await prepare(world)
  const own = { grant: ownGrant, bearer }
  return [
    attempt(world, 'fetches acme/shop under its own grant', { ...own, path: `/acme/shop.git${fetching}` }),
    attempt(world, 'fetches acme/shop under acme’s grant', { bearer, grant: 'demo-shop', path: `/acme/shop.git${fetching}` }),
    attempt(world, 'fetches acme/shop under acme’s grant by a path', {
      bearer,
      grant: 'acme/demo-shop',
      path: `/acme/shop.git${fetching}`,
    }),
    attempt(world, 'fetches acme/shop by a path behind its own repository', {
      ...own,
      path: `/globex/..%2f..%2facme%2fshop.git${fetching}`,
    }),
    attempt(world, 'pushes to its own repository under a grant to read', { ...own, path: `/globex/site.git${pushing}` }),
    attempt(world, 'fetches without an identity', { grant: ownGrant, bearer: 'x', path: `/globex/site.git${fetching}` }),
    attempt(world, 'fetches Git LFS objects', { ...own, path: '/globex/site.git/info/lfs/objects/batch' }),
    attempt(world, 'asks for a file of the repository', { ...own, path: '/globex/site.git/HEAD' }),
  ]
}

export const gitProxyAttacks: readonly Attack[] = [
  {
    name: 'git/proxy',
    as: 'a pod of globex, with its own ServiceAccount token and a grant to read its own repository',
    against: 'repositories of acme, and pushes, through the git proxy',
    tries:
      'Repositories of others, grants of others, paths around the own repository, a push without the permission, other paths of GitHub.',
    expected: ['token desk'],
    attempts: gitAttempts,
  },
]
