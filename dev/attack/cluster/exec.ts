// Commands in pods of one's own tenant, beside a grant whose tokens such a command could take, and attaching to pods that are
// not commands of one's own.
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { neighbourNamespace } from '../../demo/context.ts'
import type { Attack, Attempt } from '../attack.ts'
import { judgeApi } from '../judge.ts'
import type { World } from '../world/world.ts'
import { corePath, groupPath } from './api-attempts.ts'
import { podSpec } from './mounts.ts'

const grants = groupPath('github.sekisho.dev/v1alpha1', neighbourNamespace, 'repositorygrants')
const grant = 'attack-exec'

/** A grant that is not even decided yet; the policy sees it within a second or two. */
async function makeGrant(world: World): Promise<void> {
  await world.journal.note({ kind: 'object', path: `${grants}/${grant}` })
  const spec = {
    installation: 'github',
    repositories: ['globex/site'],
    permissions: { contents: 'read' },
    subjects: [{ kind: 'ServiceAccount', name: 'attack-exec' }],
    reason: 'attack',
  }
  const json = { apiVersion: 'github.sekisho.dev/v1alpha1', kind: 'RepositoryGrant', metadata: { name: grant }, spec }
  const { status, text } = await world.api('gary', 'POST', grants, { json })
  if (status !== 201 && status !== 409) throw new Error(`gary cannot request a grant: ${status} ${text}`)
}

function exec(world: World, method: string, pod: string, what: string): Attempt {
  const path = `${corePath(neighbourNamespace, 'pods')}/${pod}/${what}?command=true&stdout=true`
  return {
    name: `gary: ${method} ${path}`,
    run: async () => judgeApi(await world.api('gary', method, path)),
  }
}

export const execAttacks: readonly Attack[] = [
  {
    name: 'reads/exec-beside-a-grant',
    as: 'gary, admin of globex',
    against: 'pods of his own tenant, while a grant names a ServiceAccount there',
    tries: 'Runs commands in pods, from which a token of GitHub could be taken.',
    expected: ['admission'],
    async attempts(world) {
      await makeGrant(world)
      const [method, pod] = ['POST', 'any']
      await waitUntil('the policy to see the grant', async () => {
        const { text } = await world.api('gary', method, `${corePath(neighbourNamespace, 'pods')}/${pod}/exec?command=true`)
        return text.includes('sekisho-pod-exec')
      })
      return ['POST', 'GET'].flatMap(verb => ['any', 'attack-agent'].map(name => exec(world, verb, name, 'exec')))
    },
  },
  {
    name: 'reads/attach-to-another-shell',
    as: 'gary, admin of globex',
    against: 'pods of his own tenant that another person runs a command in, or that are no command',
    tries:
      'Attaches to a pod of an Application, to the shell of another person, and makes pods whose names say that they are his.',
    expected: ['admission'],
    async attempts(world) {
      const pods = corePath(neighbourNamespace, 'pods')
      const attached = ['POST', 'GET'].flatMap(verb =>
        ['site', 'sekisho-run-1-shop-abcde-fghij'].map(name => exec(world, verb, name, 'attach')),
      )
      const metadata = { name: 'sekisho-run-1-attack' }
      const spec = podSpec('x')
      const made = async () =>
        judgeApi(
          await world.api('gary', 'POST', `${pods}?dryRun=All`, { json: { apiVersion: 'v1', kind: 'Pod', metadata, spec } }),
        )
      return [...attached, { name: `gary: POST ${pods} ${metadata.name}`, run: made }]
    },
  },
]
