// The tutorial, docs/guide/first-application.md, as a newcomer reads it: each of its blocks runs in a shell as it is written,
// but for what is said here: other names, a browser that signs in, a value where the command asks for one, and an end where the
// guide says “repeat” or follows a log. Then, on what it made, the kubectl commands that docs/guide/cli.md puts beside those of
// sekisho.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { readClusterSettings } from '../../dev/cluster/settings.ts'
import { type DemoContext, tenantNamespace } from '../../dev/demo/context.ts'
import { askGitHub } from '../../dev/demo/github.ts'
import { prepareDemo } from '../../dev/demo/run.ts'
import { commandLineLogin } from '../../dev/demo/scenario/sign-in.ts'
import { gitCredential } from '../../dev/demo/tools.ts'

let world: DemoContext

beforeAll(async () => {
  world = await prepareDemo(readClusterSettings(), 'guide')
  await commandLineLogin(world, world.people.dave)
})

afterAll(() => rm(join(world.people.dave.home, '..'), { recursive: true, force: true }))

const guideText = (name: string): Promise<string> => readFile(join(world.repository, 'docs/guide', name), 'utf8')

/** The `sh` blocks, by the number of their section. */
function blocksOf(text: string): ReadonlyMap<number, string> {
  const sections = text.split(/^## (?=\d+\. )/m).slice(1)
  return new Map(
    sections.map(section => [
      Number.parseInt(section, 10),
      [...section.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block).join(''),
    ]),
  )
}

/** Of the table: what the tutorial has an object for. Those with jq run where it is installed. */
const twins = [
  'status',
  'status shop',
  'ps shop',
  'releases shop',
  'rollback shop 7',
  'rollback shop --resume',
  'restart shop',
  'scale shop web=3',
  'env list shop',
  'env set shop LOG_LEVEL=debug',
  'env unset shop LOG_LEVEL',
  'secrets list shop',
  'secrets unset shop API_TOKEN',
  'open shop',
  'whoami',
]

/** sekisho's command → kubectl's. */
async function kubectlTwins(): Promise<ReadonlyMap<string, string>> {
  const text = await guideText('cli.md')
  const rows = [...text.matchAll(/^\| `([^`]+)` \| `(kubectl (?:[^`])+)`/gm)]
  return new Map(rows.map(([, ours = '', theirs = '']) => [ours, theirs.replaceAll('\\|', '|')]))
}

/** Stands between the guide and the command where a person would look, answer or interrupt. */
const prelude = `
set -euo pipefail
until_true() { local n; for n in $(seq 120); do if "$@"; then return 0; fi; sleep 1; done; echo "not in time: $*" >&2; return 1; }
is_ready() { local said; said=$(command sekisho status "$1") && grep -Eq '^State +ready' <<< "$said"; }
runs_newest() { test "$(kubectl get application "$1" -o jsonpath='{.status.release}')" -gt "$RELEASE_BEFORE"; }
url() { kubectl get application "$NAME" -o jsonpath='{.status.url}'; }
serves() { local said; said=$(curl --silent --max-time 5 "$(url)") && grep -q -- "$1" <<< "$said"; }
sekisho() {
  case "$1 \${2-}" in
    "why "*) command sekisho "$@" || test $? = 1 ;;
    "open "*) until_true command sekisho "$@"; until_true serves 'no database yet' ;;
    "secrets set") printf %s "$SECRET" | command sekisho "$@" ;;
    "status "*) until_true is_ready "$2" ;;
    "releases "*) until_true runs_newest "$2"; command sekisho "$@" ;;
    "rollback "*)
      command sekisho "$@"
      case "\${3-}" in
        --resume) until_true serves 'the database is at db.example.com' ;;
        *) until_true serves '^database at db.example.com' ;;
      esac ;;
    "shell "*) printf 'echo in "$0"\\nexit\\n' | script --quiet --return --command "$(type -P sekisho) shell $2" /dev/null ;;
    "logs -f") timeout --signal INT 5 "$(type -P sekisho)" "$@" || test $? = 124 ;;
    *) command sekisho "$@" ;;
  esac
}
cd "$(cat "$PLACE")"
trap 'pwd > "$PLACE"' EXIT
`

type Shell = { readonly run: (script: string, environment?: Readonly<Record<string, string>>) => Promise<string> }

/** A shell of dave: each script goes on in the folder where the one before ended. Resolves to all that was said. */
async function openShell(name: string): Promise<Shell> {
  const { home, environment } = world.people.dave
  const folder = join(home, name)
  await mkdir(folder, { recursive: true })
  const place = join(home, `${name}.place`)
  await writeFile(place, folder)
  const author = { GIT_AUTHOR_NAME: 'Dave', GIT_AUTHOR_EMAIL: 'dave@example.test' }
  const base = {
    ...environment,
    ...gitCredential('dave', world.personalTokens['dave'] ?? ''),
    ...author,
    GIT_COMMITTER_NAME: author.GIT_AUTHOR_NAME,
    GIT_COMMITTER_EMAIL: author.GIT_AUTHOR_EMAIL,
    PATH: `${join(home, '.local/bin')}:${environment['PATH']}`,
    NAME: name,
    PLACE: place,
    SECRET: `postgres://${name}:nobody-reads-this@db.example.com/${name}`,
  }
  return {
    run: (script, more = {}) =>
      new Promise((resolve, reject) => {
        const child = spawn('bash', ['-c', `${prelude}${script}`], {
          env: { ...base, ...more },
          stdio: ['ignore', 'pipe', 'pipe'],
        })
        const said: string[] = []
        for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', text => said.push(text))
        const limit = setTimeout(() => child.kill(), 240_000)
        child.on('error', reject)
        child.on('close', code => {
          clearTimeout(limit)
          const all = said.join('')
          if (code === 0) resolve(all)
          else reject(new Error(`exit code ${code} of:\n${script}\n${all.slice(-3000)}`))
        })
      }),
  }
}

/** While a rollout is in progress the status changes between the two commands of a pipe, and kubectl says so. */
async function runTwin(shell: Shell, command: string, attempts = 10): Promise<void> {
  try {
    await shell.run(command)
  } catch (error) {
    if (attempts === 1 || !/object has been modified/.test(String(error))) throw error
    await runTwin(shell, command, attempts - 1)
  }
}

test('every command of the tutorial does what it says', async () => {
  const name = `tutorial-${Date.now().toString(36)}`
  const repository = { name, private: true, auto_init: false }
  expect(await askGitHub(world, 'dave', `POST /orgs/${tenantNamespace}/repos`, repository)).toMatchObject({ status: 201 })
  const shell = await openShell(name)
  onTestFinished(() => shell.run('kubectl delete remotesync,application,appsecret "$NAME" --ignore-not-found').then(() => {}))
  const text = await guideText('first-application.md')
  const guide = blocksOf(text)
  const section = (number: number): string => {
    const block = guide.get(number)
    if (block === undefined) throw new Error(`the guide has no section ${number}`)
    return block
      .replaceAll(/\bstore\b/g, name)
      .replaceAll('https://github.com', world.githubWeb)
      .replace(/^git clone <[^>]+> sekisho/m, `ln -s ${world.repository} sekisho`)
      .replace(/^sekisho login .*$/m, '')
  }
  expect([...guide.keys()]).toEqual([1, 2, 3, 4, 5, 6, 7])

  const whoami = await shell.run(section(1))
  expect(whoami).toMatch(/acme +developer/)
  expect(whoami).toMatch(/^github /m)
  await shell.run(section(2))
  await shell.run(section(3))
  await shell.run(section(4))
  const asked = await shell.run(section(5))
  expect(asked).not.toContain('nobody-reads-this')
  expect(asked.trimEnd().split('\n').at(-1)).toBe('database at db.example.com')
  const before = (await shell.run('kubectl get application "$NAME" -o jsonpath="{.status.release}"')).trim()
  const releases = await shell.run(section(6), { RELEASE_BEFORE: before })
  expect(releases).not.toContain('nobody-reads-this')
  const ran = await shell.run(section(7))
  expect(ran).toMatch(/^v\d+\.\d+\.\d+$/m)
  expect(ran).toMatch(/^in (ba)?sh/m)
  expect(ran).toContain(`${name} listens on port 3000`)
  const known = await kubectlTwins()
  for (const command of twins) {
    const twin = known.get(command)
    if (twin === undefined) throw new Error(`docs/guide/cli.md has no kubectl command for ${command}`)
    if (!twin.includes('jq ') || existsSync('/usr/bin/jq')) await runTwin(shell, twin.replaceAll(/\bshop\b/g, name))
  }
  const [, ...ends] = /To remove everything: `(.*?)`, and `(.*?)`/.exec(text) ?? []
  expect(ends).toHaveLength(2)
  await shell.run(ends.map(command => command.replaceAll(/\bstore\b/g, name)).join('\n'))
  expect(await shell.run('kubectl get application,remotesync,appsecret -o name')).not.toContain(name)
})
