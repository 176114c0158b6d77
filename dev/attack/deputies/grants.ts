// Grants: for repositories, installations and permissions that are not the requester's, and for one repository twice.
import { setTimeout as pause } from 'node:timers/promises'
import { neighbourNamespace } from '../../demo/context.ts'
import type { Attack, Attempt } from '../attack.ts'
import { groupPath } from '../cluster/api-attempts.ts'
import { judgeApi } from '../judge.ts'
import { stopped, succeeded, unclear } from '../verdict.ts'
import type { World } from '../world/world.ts'
import { objectAttempt, type Shown } from './object-attempts.ts'

const github = 'github.sekisho.dev/v1alpha1'
const grants = groupPath(github, neighbourNamespace, 'repositorygrants')

type Spec = Readonly<Record<string, unknown>>

function denied(world: World, name: string, what: string, spec: Spec): Attempt {
  const common = {
    installation: 'github',
    repositories: ['globex/site'],
    permissions: { contents: 'read' },
    subjects: [{ kind: 'ServiceAccount', name: 'default' }],
    reason: 'attack',
  }
  return objectAttempt(world, {
    name: what,
    path: grants,
    object: { apiVersion: github, kind: 'RepositoryGrant', metadata: { name }, spec: { ...common, ...spec } },
    refusals: /^(DeniedByPolicy|InstallationNotReady|RepositoryNotFound|UnknownPermissionLevel|AboveCeiling|Requester\w+)$/,
    harm: async ({ status }) =>
      status?.['decision'] === 'Approved' ? `approved for ${JSON.stringify(status['repositories'])}` : undefined,
    seconds: 30,
  })
}

/**
 * Other names of permissions: other spellings, those of other APIs (GraphQL, OAuth scopes, Actions), members of JavaScript's
 * objects.
 */
const permissionAliases: readonly Readonly<Record<string, string>>[] = [
  { Administration: 'write' },
  { 'administration ': 'write' },
  { administration: 'Write' },
  { contents: 'admin ' },
  { organization_administration: 'write' },
  { repo: 'write' },
  { 'admin:org': 'write' },
  { сontents: 'write' },
  { constructor: 'write', toString: 'read' },
  { '*': 'write' },
]

const greedyGrants: readonly (readonly [string, Spec])[] = [
  ['acme’s repository', { repositories: ['acme/shop'] }],
  ['acme’s repository in capitals', { repositories: ['ACME/SHOP'] }],
  ['its own and acme’s repository', { repositories: ['globex/site', 'acme/secret-plans'] }],
  ['an Installation of acme', { installation: 'acme' }],
  ['rights of an administrator', { permissions: { administration: 'write' } }],
  ['members of the organization', { permissions: { members: 'write' } }],
  ['secrets of the repository', { permissions: { secrets: 'write', actions_variables: 'write' } }],
  ['an unknown permission', { permissions: { everything: 'admin' } }],
  ['more than the App has', { permissions: { contents: 'admin' } }],
  ...permissionAliases.map((permissions): readonly [string, Spec] => [
    `permissions ${JSON.stringify(permissions)}`,
    { permissions },
  ]),
]

/** The same repository twice: decided once, for one repository, and then quiet. */
function twice(world: World): Attempt {
  const name = 'attack-twice'
  return {
    name: 'gary: a grant with the same repository in two spellings',
    async run() {
      const json = {
        apiVersion: github,
        kind: 'RepositoryGrant',
        metadata: { name },
        spec: {
          installation: 'github',
          repositories: ['globex/site', 'GLOBEX/site'],
          permissions: { contents: 'read' },
          subjects: [{ kind: 'ServiceAccount', name: 'default' }],
          reason: 'attack',
        },
      }
      await world.journal.note({ kind: 'object', path: `${grants}/${name}` })
      const answer = await world.api('gary', 'POST', grants, { json })
      if (answer.status >= 300) return judgeApi(answer)
      try {
        return await settled(world, `${grants}/${name}`)
      } finally {
        await world.admin.request('DELETE', `${grants}/${name}`)
      }
    },
  }
}

async function settled(world: World, path: string) {
  for (const deadline = Date.now() + 12_000; Date.now() < deadline; await pause(250)) {
    const { status } = (await world.admin.call('GET', path)) as Shown
    if (status?.['decision'] === undefined) continue
    const { length } = (status['repositories'] ?? []) as readonly unknown[]
    return length <= 1
      ? stopped('controller', `${status['decision']}, for ${length} repository`)
      : unclear(JSON.stringify(status['repositories']))
  }
  return succeeded('no decision after 12 s: the controller tries, asks GitHub and fails again and again')
}

export const grantAttacks: readonly Attack[] = [
  {
    name: 'deputies/grants',
    as: 'gary, admin of globex',
    against: 'tokens for repositories of acme, and beyond what globex granted',
    tries: 'Grants on repositories, installations and permissions that are not the requester’s, and one repository twice.',
    expected: ['controller', 'schema', 'admission'],
    attempts: world => [
      ...greedyGrants.map(([what, spec], index) => denied(world, `attack-grant-${index}`, `a grant for ${what}`, spec)),
      twice(world),
    ],
  },
]
