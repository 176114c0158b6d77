// Third part: an application developer's first day. A repository with a build script, a secret and a release job; one with a
// Dockerfile; a build that fails, a release that crashes, and what `sekisho why` says of each.
import type { Condition } from '../../../../src/api/resource.ts'
import { limits } from '../../../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../../../src/lib/waiting/wait-until.ts'
import type { DemoContext } from '../../context.ts'
import { pushExample } from '../../push.ts'
import { DemoFailure, expectThat, type Step } from '../../steps.ts'
import type { Result } from '../../tools.ts'
import { readSync, untilContains, untilDeployed } from '../deploy.ts'
import { ensureRepository } from '../repositories.ts'
import { type Notes, notesOf } from './notes.ts'

const password = 'nobody-reads-this'
const databaseUrl = `postgres://notes:${password}@db.acme.example/notes`

export function firstDaySteps(demo: DemoContext): readonly Step[] {
  const notes = notesOf(demo)
  return [
    {
      title: 'olivia creates the repositories acme/notes and acme/clock on GitHub, for the team developers',
      run: async () => [await ensureRepository(demo, 'notes'), await ensureRepository(demo, 'clock')].join('\n'),
    },
    {
      title: 'dave describes notes and gives it DATABASE_URL as a secret, which nobody reads back',
      run: () => giveSecret(notes),
    },
    {
      title:
        'dave pushes notes: its build script makes the page, its release job runs before the first process, the URL serves both',
      run: () => deployNotes(demo, notes),
    },
    {
      title: 'dave pushes clock, which has a Dockerfile; the URL serves that commit',
      run: () => deployClock(demo, notes),
    },
    {
      title: 'a push that cannot be built: the RemoteSync says the cause, the log is kept, the URL serves the commit before',
      run: () => failBuild(demo, notes),
    },
    {
      title: 'sekisho why names the step that is wrong, and what to do',
      run: async () => verdictOf(await notes.why(), 'build'),
    },
    {
      title: 'a push whose process crashes: the release before it runs again by itself',
      run: () => rollBack(notes),
    },
    {
      title: 'sekisho why names the release now; dave pushes a correction, and nothing is wrong any more',
      run: () => correct(demo, notes),
    },
  ]
}

async function giveSecret(notes: Notes): Promise<string> {
  await notes.kubectl(['apply', '-f', notes.example('notes/application.yaml')])
  const said = await notes.sekisho(['secrets', 'set', 'notes', 'DATABASE_URL'], databaseUrl)
  const stored = await notes.kubectl(['get', 'appsecret', 'notes', '-o', 'yaml', '--show-managed-fields'])
  for (const text of [said, stored]) expectThat(!text.includes(password), 'the value of the secret can be read')
  const secret = await notes.attempt(['get', 'secret', 'appsecret-notes', '-o', 'yaml'])
  expectThat(secret.code !== 0 && /forbidden/i.test(secret.errors), 'dave can read the Secret behind the AppSecret')
  return said
}

async function deployNotes(demo: DemoContext, notes: Notes): Promise<string> {
  const note = `Mend the sandals before ${new Date().toISOString()}`
  const commit = await notes.pushServed(note)
  await notes.kubectl(['apply', '-f', notes.example('notes/remote-sync.yaml')])
  await untilDeployed(demo, demo.people.dave, { name: 'notes', commit, seconds: 300 })
  const { url, version } = await notes.stillServed()
  expectThat(version.includes('notes on db.acme.example'), `the process does not have the secret: ${version}`)
  const { status } = await notes.application()
  const job = await notes.kubectl(['logs', `job/notes-release-v${status?.release}`])
  expectThat(job.includes('the database is notes on db.acme.example'), `the log of the release job is not its own: ${job}`)
  return `${url}/ → 200 “${note}”\nrelease v${status?.release}: ${job}`
}

async function deployClock(demo: DemoContext, notes: Notes): Promise<string> {
  const { dave } = demo.people
  const commit = await pushExample(demo, dave, { name: 'clock', message: `at ${new Date().toISOString()}`, files: {} })
  // The base image of the example is on the internet; the platform's own run image has Node.js, too.
  const sync = JSON.parse(
    await notes.kubectl(['create', '--dry-run=client', '-o', 'json', '-f', notes.example('clock/remote-sync.yaml')]),
  )
  sync.spec.build.dockerfile.args = [{ name: 'BASE', value: demo.baseImage }]
  await notes.kubectl(['apply', '-f', notes.example('clock/application.yaml')])
  await notes.kubectl(['apply', '-f', '-'], JSON.stringify(sync))
  await untilDeployed(demo, dave, { name: 'clock', commit, seconds: 300 })
  const url = (await notes.application('clock')).status?.url ?? ''
  return `${url}/ → 200 ${await untilContains(dave, `${url}/`, commit)}`
}

async function failBuild(demo: DemoContext, notes: Notes): Promise<string> {
  const bad = await notes.push('a note that is never seen', { 'build.js': "import 'left-pad'\n" })
  const ready = await waitUntil(
    `the build of ${bad} to fail`,
    async () => {
      const { status } = await readSync(demo, demo.people.dave, 'notes')
      if (status?.imageCommit === bad) throw new DemoFailure('a commit that cannot be built was built')
      const condition = readyOf(status)
      if (status?.failedCommit !== bad || condition === undefined) throw new Error(`${condition?.reason}: ${condition?.message}`)
      return condition
    },
    { timeoutMilliseconds: limits.build },
  )
  const [cause = ''] = ready.message.split('\n')
  expectThat(cause.includes('left-pad is not installed'), `the message does not begin with the cause: ${ready.message}`)
  const log = await notes.sekisho(['builds', 'logs', 'notes'])
  expectThat(log.includes("Cannot find package 'left-pad'"), `the log lacks the line of the failure: ${log.slice(-400)}`)
  await notes.stillServed()
  return `${ready.reason}: ${cause}`
}

async function rollBack(notes: Notes): Promise<string> {
  await notes.push('another note that is never seen', { 'server.js': "throw new Error('this server never starts')\n" })
  const message = await waitUntil(
    'the release to be rolled back',
    async () => {
      const ready = readyOf((await notes.application()).status)
      if (ready?.reason !== 'RolledBack') throw new Error(`${ready?.reason}: ${ready?.message}`)
      return ready.message
    },
    { timeoutMilliseconds: limits.build },
  )
  expectThat(message.includes('Error: this server never starts'), `the message does not have the cause: ${message}`)
  await notes.stillServed()
  return `${message}\n${await notes.sekisho(['releases', 'notes'])}`
}

async function correct(demo: DemoContext, notes: Notes): Promise<string> {
  const before = verdictOf(await notes.why(), 'release')
  const commit = await notes.pushServed(`Bring back the sandals, ${new Date().toISOString()}`)
  await untilDeployed(demo, demo.people.dave, { name: 'notes', commit, seconds: 180 })
  await notes.stillServed()
  const after = await notes.sekisho(['why', 'application/notes'])
  expectThat(after.includes('nothing is wrong with application/notes'), `why still finds something: ${after}`)
  return `${before}\nafter the correction:\n${after}`
}

function readyOf(status: { readonly conditions?: readonly Condition[] } | undefined): Condition | undefined {
  return status?.conditions?.find(({ type }) => type === 'Ready')
}

/** What `sekisho why` said last. Throws DemoFailure unless it names this step as the first that is wrong. */
function verdictOf({ code, output, errors }: Result, step: string): string {
  const [, said] = output.trimEnd().split('\n\n')
  if (code !== 1 || said === undefined || !said.startsWith(`application/notes stops at: ${step}\n`))
    throw new DemoFailure(`sekisho why does not name the step ${step}: ${output} ${errors}`)
  return said
}
