// Trees by which a checkout would write beside itself, run a program, or fetch from elsewhere: names that a file system takes
// for `.git`, submodules with hostile addresses, and files of git that are links. The source store must refuse them before
// anything checks them out.
import { setTimeout as pause } from 'node:timers/promises'
import { neighbourNamespace } from '../../demo/context.ts'
import { type Attack, type Attempt, endingWith, inTurn } from '../attack.ts'
import { groupPath, mergePatch } from '../cluster/api-attempts.ts'
import { emptyApplication, remoteSync } from '../deputies/manifests.ts'
import { readyOf, type Shown } from '../deputies/object-attempts.ts'
import { stopped, succeeded, unclear, type Verdict } from '../verdict.ts'
import { applicationsPath, type World } from '../world/world.ts'
import { type Entries, pushTrees } from './push-trees.ts'

const syncs = groupPath('apps.sekisho.dev/v1alpha1', neighbourNamespace, 'remotesyncs')
const commit = 'c'.repeat(40)

/** A configuration that runs a program as soon as git looks at the folder. */
const configuration: Entries = [['config', '[core]\n\tfsmonitor = "id >/tmp/attacked"\n\thooksPath = hooks\n']]
const hook: Entries = [['hooks', [['post-checkout', '#!/bin/sh\nid >/tmp/attacked\n']]]]

/** What some file system takes for `.git`: https://git-scm.com/docs/git-fsck, hasDotgit. */
const gitNames = [
  '.git',
  '.GIT',
  '.Git',
  'git~1',
  'GIT~1',
  '.git ',
  '.git.',
  '.git::$INDEX_ALLOCATION',
  '.g\u200cit',
  '.gi\u200dt',
]

function modules(fields: string, path = 'module'): Entries {
  return [
    ['.gitmodules', `[submodule "${path}"]\n${fields}`],
    [path, { submodule: commit }],
  ]
}

const addresses = [
  'file:///var/run/secrets/kubernetes.io/serviceaccount',
  'file:///var/lib/sekisho/sources',
  'ext::sh -c id% >/tmp/attacked',
  'ssh://-oProxyCommand=id/x',
  'ssh://git@github.localhost/acme/secret-plans.git',
  '--upload-pack=id',
  '-u./payload',
  'http://kubernetes.default.svc/x.git',
  'http://169.254.169.254/x.git',
  '../../acme/secret-plans',
  '../../../acme/secret-plans.git',
  'https://github.localhost\\n/acme/shop.git',
]

const trees: readonly (readonly [what: string, tree: Entries])[] = [
  ...gitNames.map(name => [`a configuration of git in ${JSON.stringify(name)}`, [[name, configuration]]] as const),
  ['a hook in a folder below', [['sub', [['.git', hook]]]]],
  ['the folder “..”', [['..', [['stolen', 'x']]]]],
  ['the folder “.”', [['.', [['stolen', 'x']]]]],
  [
    'a link and a folder of the same name',
    [
      ['a', { link: '/var/run/secrets' }],
      ['a', [['x', 'written through the link']]],
    ],
  ],
  ['.gitmodules as a link', [['.gitmodules', { link: '/etc/passwd' }]]],
  [
    '.gitmodules as a folder',
    [
      ['.gitmodules', [['x', 'y']]],
      ['module', { submodule: commit }],
    ],
  ],
  ...addresses.map(url => [`a submodule at ${url}`, modules(`\tpath = module\n\turl = ${url}\n`)] as const),
  ['a submodule that is updated by a program', modules('\tpath = module\n\turl = https://example.com/x\n\tupdate = !id\n')],
  [
    'a submodule whose name leads out',
    [
      ['.gitmodules', '[submodule "../../hooks"]\n\tpath = module\n\turl = https://example.com/x\n'],
      ['module', { submodule: commit }],
    ],
  ],
  ['a submodule whose path is an option', modules('\tpath = -module\n\turl = https://example.com/x\n', '-module')],
]

const branchOf = (index: number): string => `attack-tree-${index}`

/** What a RemoteSync says of a commit; undefined while it says nothing. The reasons are those of the source store. */
export function judgeSource(shown: Shown, commit: string): Verdict | undefined {
  const { status } = shown
  const fetched = status?.conditions?.find(({ type }) => type === 'Fetched')
  const isOfCommit = status?.['commit'] === commit
  if (isOfCommit && fetched?.status === 'True') return succeeded(`the source of ${commit} was fetched: ${fetched.reason}`)
  const ready = readyOf(shown)
  if (ready === undefined || !isOfCommit) return undefined
  const text = `${ready.reason}: ${ready.message}`
  return /^(SourceMalformed|SourceIncomplete)$/.test(ready.reason) ? stopped('controller', text) : undefined
}

/**
 * One RemoteSync follows one branch after the other: it keeps its grant, and never waits for the place of another build of the
 * attack.
 */
const name = 'attack-trees'

async function judged(world: World, path: string, commit: string): Promise<Verdict> {
  for (const deadline = Date.now() + 30_000; Date.now() < deadline; await pause(200)) {
    const verdict = judgeSource((await world.admin.call('GET', path)) as Shown, commit)
    if (verdict !== undefined) return verdict
  }
  return unclear(JSON.stringify(((await world.admin.call('GET', path)) as Shown).status?.conditions))
}

/** Follows the branch; creates the RemoteSync with the first one. */
async function follow(world: World, branch: string): Promise<void> {
  const path = `${syncs}/${name}`
  const json = remoteSync(name, { source: { branch } })
  const changed = await world.api('gary', 'PATCH', path, { json: { spec: json.spec }, contentType: mergePatch })
  if (changed.status === 200) return
  await world.journal.note({ kind: 'object', path: `${applicationsPath}/${name}` })
  await world.journal.note({ kind: 'object', path })
  await world.api('gary', 'POST', applicationsPath, { json: emptyApplication(name) })
  const made = await world.api('gary', 'POST', syncs, { json })
  if (made.status !== 201) throw new Error(`gary cannot follow a branch of his own: ${made.status} ${made.text}`)
}

async function attempts(world: World): Promise<readonly Attempt[]> {
  await world.ownImage()
  const commits = await pushTrees(world, new Map(trees.map(([, tree], index) => [branchOf(index), tree])))
  const judgedInTurn = inTurn(
    trees.map(([what], index) => ({
      name: `gary: ${what}`,
      async run() {
        await follow(world, branchOf(index))
        return judged(world, `${syncs}/${name}`, commits[index] ?? '')
      },
    })),
  )
  return endingWith(judgedInTurn, async () => {
    for (const path of [syncs, applicationsPath]) await world.admin.request('DELETE', `${path}/${name}`)
  })
}

export const refusedTreeAttacks: readonly Attack[] = [
  {
    name: 'trees/refused',
    as: 'gary, who pushes commits that git would not make',
    against: 'the source store, and whatever checks a commit out for a build',
    tries:
      'Names that a file system takes for .git, folders that lead out, submodules with hostile addresses, and links in place of git’s files.',
    expected: ['controller'],
    peer: 'git CVE-2018-11235, CVE-2018-17456, CVE-2019-1352, CVE-2021-21300, CVE-2024-32002',
    form: 'long',
    attempts,
  },
]
