// What people write into Halts and grants, and others read on a terminal: escapes, characters that move a cursor or turn the
// direction of what follows, tokens in the wrong place; and more Halts than a tenant may have.
import { neighbourNamespace } from '../../demo/context.ts'
import { run } from '../../demo/tools.ts'
import type { Attack, Attempt } from '../attack.ts'
import { type ApiAttempt, apiAttempts, groupPath, mergePatch } from '../cluster/api-attempts.ts'
import { judgeApi } from '../judge.ts'
import { stopped, succeeded, unclear, type Verdict } from '../verdict.ts'
import type { World } from '../world/world.ts'
import { ended, group, haltOf, host, nothing, own, stand } from './halted.ts'

/** What each does to the line of a terminal, or to what a person reads in it. */
const marks: Readonly<Record<string, string>> = {
  'a colour': '\u001b[31m',
  'the title of the window': '\u001b]0;owned\u0007',
  'the 8-bit introducer': '\u009b31m',
  'a bell': '\u0007',
  'a line break': '\n',
  'a carriage return': '\r',
  'a tabulator': '\t',
  'the next line': '\u0085',
  'the line separator': '\u2028',
  'right to left': '\u202e',
  'a right-to-left isolate': '\u2067',
  'a right-to-left mark': '\u200f',
  'a space without a width': '\u200b',
  'a mark of byte order': '\ufeff',
  'a soft hyphen': '\u00ad',
  'a letter that is a tag': '\u{e0041}',
  'a zero byte': '\u0000',
}

const lifted = (reason: string) => ({ spec: { lifted: { by: 'x', reason } } })

function fields(mark: string, what: string): readonly ApiAttempt[] {
  const post = (name: string, json: unknown): ApiAttempt => ({ as: 'gary', method: 'POST', path: own, json, dry: true, name })
  const text = `fine ${mark} indeed`
  return [
    post(`${what} in the reason`, haltOf('attack-reason', nothing, { reason: text })),
    {
      as: 'gary',
      method: 'PATCH',
      path: `${own}/attack-written`,
      json: lifted(text),
      contentType: mergePatch,
      dry: true,
      name: `${what} in the reason of the lifting`,
    },
    post(
      `${what} in the name of a repository`,
      haltOf('attack-reason', { type: 'Repository', repository: { host, id: 1, name: text } }),
    ),
    post(`${what} in a login`, haltOf('attack-reason', { type: 'Person', person: { host, id: 1, login: text } })),
  ]
}

const forms: readonly (readonly [string, unknown])[] = [
  ['a reason of two characters', haltOf('attack-reason', nothing, { reason: 'no' })],
  ['a reason of 501 characters', haltOf('attack-reason', nothing, { reason: 'x'.repeat(501) })],
  ['no reason', haltOf('attack-reason', nothing, { reason: undefined })],
  ['a token instead of its hash', haltOf('attack-reason', { type: 'Token', token: { hash: 'ghs_not-a-token' } })],
  ['a token instead of its id', haltOf('attack-reason', { type: 'Token', token: { id: 'ghs_not-a-token' } })],
  ['a login as a number', haltOf('attack-reason', { type: 'Person', person: { host, id: 'olivia' } })],
  ['a number below zero', haltOf('attack-reason', { type: 'Repository', repository: { host, id: -1 } })],
  ['two targets', haltOf('attack-reason', { ...nothing, person: { host, id: 1 } })],
  ['a target of another type', haltOf('attack-reason', { type: 'Tenant', person: { host, id: 1 } })],
  ['an unknown type', haltOf('attack-reason', { type: 'Cluster' })],
  ['pods of a grant', haltOf('attack-reason', nothing, { workloads: 'ScaleToZero' })],
]

async function written(world: World): Promise<readonly Attempt[]> {
  await stand(world, own, haltOf('attack-written', nothing))
  const strict = `${own}?fieldValidation=Strict`
  return apiAttempts(world, [
    ...Object.entries(marks).flatMap(([what, mark]) => fields(mark, what)),
    ...forms.map(([name, json]): ApiAttempt => ({ as: 'gary', method: 'POST', path: strict, json, dry: true, name })),
  ])
}

const grants = groupPath(group, neighbourNamespace, 'repositorygrants')
/** Characters of control and of direction, but for the end of a line. */
const harmful = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u

/** A person at a terminal, who reads what gary wrote. */
function reading(world: World, login: 'ada' | 'gary', args: readonly string[]): Attempt {
  return {
    name: `${login} reads gary’s texts: sekisho ${args.join(' ')}`,
    async run() {
      await world.credentials(login)
      const { code, output, errors } = await run(world.demo.people[login], world.demo.tools.sekisho, args)
      const text = `${output}${errors}`
      const found = text.split('\n').find(line => harmful.test(line))
      if (found !== undefined) return succeeded(JSON.stringify(found))
      if (code !== 0) return unclear(`exit code ${code}: ${text}`)
      // A narrow column cuts the name.
      return text.includes('attack-sh')
        ? stopped('absent', `no such character in ${text.length} characters`)
        : unclear(`what gary wrote is not in ${text.length} characters: nothing was tried`)
    },
  }
}

/** The reason of a grant has no such rule of the schema: what shows it must not let it through. */
async function shown(world: World): Promise<readonly Attempt[]> {
  const name = 'attack-shown'
  const path = `${grants}/${name}`
  await world.journal.note({ kind: 'object', path })
  const reason = `attack-shown ${Object.values(marks)
    .filter(mark => mark !== '\u0000')
    .join('x')}`
  const spec = {
    installation: 'github',
    repositories: ['globex/site'],
    permissions: { contents: 'read' },
    subjects: [{ kind: 'ServiceAccount', name: 'attack-shown' }],
    reason,
  }
  const json = { apiVersion: group, kind: 'RepositoryGrant', metadata: { name }, spec }
  const { status, text } = await world.api('gary', 'POST', grants, { json })
  if (status === 422) return [{ name: 'gary: escapes in the reason of a grant', run: async () => judgeApi({ status, text }) }]
  if (status !== 201 && status !== 409) throw new Error(`gary cannot grant access to his own repository: ${status} ${text}`)
  const since = ['--since', '10m', '--namespace', neighbourNamespace]
  return [
    reading(world, 'ada', ['audit', 'list', ...since]),
    reading(world, 'ada', ['access', 'repository', 'globex/site', '--since', '10m']),
    reading(world, 'gary', ['why', `grant/${name}`, '--namespace', neighbourNamespace]),
  ]
}

/** Of the quota of a tenant. */
const most = 50
/**
 * The quota controller counts anew when something was deleted, by its caches, which lag: so many more as are on their way at that
 * moment can pass, and nothing after them. Source: kubernetes/pkg/controller/resourcequota (syncResourceQuota)
 */
const atOnce = 8
const beyond = 2 * atOnce

/** Dry runs of the platform (`spec.dryRun`), which end nothing: the quota counts them as it counts the others. */
function flood(world: World): Attempt {
  return {
    name: `gary: ${most + beyond} Halts at once`,
    async run(): Promise<Verdict> {
      const paths: string[] = []
      const answers: { readonly status: number; readonly text: string }[] = []
      const make = async (number: number): Promise<void> => {
        const json = haltOf(`attack-flood-${number}`, nothing, { dryRun: true })
        const path = `${own}/${json.metadata.name}`
        await world.journal.note({ kind: 'object', path })
        const answer = await world.api('gary', 'POST', own, { json })
        if (answer.status === 201) paths.push(path)
        answers.push(answer)
      }
      for (let sent = 0; sent < most + beyond; sent += atOnce)
        await Promise.all(Array.from({ length: Math.min(atOnce, most + beyond - sent) }, (_, index) => make(sent + index)))
      const refused = answers.filter(({ status, text }) => status === 403 && text.includes('exceeded quota')).length
      await Promise.all(paths.map(path => ended(world, path)))
      const text = `${paths.length} made, ${refused} refused by the quota`
      if (paths.length > most + atOnce) return succeeded(text)
      return refused + paths.length === answers.length ? stopped('quota', text) : unclear(text)
    },
  }
}

export const haltTextAttacks: readonly Attack[] = [
  {
    name: 'halts/texts',
    as: 'gary, admin of globex',
    against: 'whoever reads Halts on a terminal, and the rules about what a Halt may say',
    tries:
      'Escapes, control characters and marks of direction in every text; tokens, names and negative numbers as ids; two targets.',
    expected: ['schema'],
    attempts: written,
  },
  {
    name: 'halts/texts-on-a-terminal',
    as: 'gary, admin of globex',
    against: 'platform admins who read the log and grants with the command line',
    tries: 'Escapes and marks of direction in the reason of a grant, which the command line then shows.',
    expected: ['absent', 'schema'],
    attempts: shown,
  },
  {
    name: 'halts/flood',
    alone: true,
    as: 'gary, admin of globex',
    against: 'the token desk, which reads all Halts before each delivery',
    tries: 'Makes more Halts than the quota of a tenant allows.',
    expected: ['quota'],
    attempts: world => [flood(world)],
  },
]
