// A commit that says that it is another: its build writes the newest commit of the main branch, which people have reviewed, into
// the image's metadata: into the file of the fetch where it reaches that, and as a label of its own. An image that names the
// commit that was asked for is made by code of that commit only: a build fetches one commit.
import { limits } from '../../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { neighbourNamespace } from '../../demo/context.ts'
import type { Attack, Attempt } from '../attack.ts'
import { groupPath } from '../cluster/api-attempts.ts'
import { judgeApi } from '../judge.ts'
import { stopped, succeeded, unclear, type Verdict } from '../verdict.ts'
import { applicationsPath, type World } from '../world/world.ts'
import { application, emptyApplication, remoteSync } from './manifests.ts'
import type { Shown } from './object-attempts.ts'
import { pushBranch } from './own-branch.ts'

const name = 'attack-built-commit'
const syncs = groupPath('apps.sekisho.dev/v1alpha1', neighbourNamespace, 'remotesyncs')

/** Runs in the build, before the exporter makes the image from what the phases left. */
const rewrite = (claimed: string): string => `
const { appendFileSync, existsSync, readFileSync, writeFileSync } = require('node:fs')
const { spawn } = require('node:child_process')
if (process.argv[2] === 'label') {
  const launch = '/layers/sekisho_node/launch.toml'
  const metadata = JSON.stringify({ source: { type: 'git', version: { commit: '${claimed}' } } })
  const label = '\\n[[labels]]\\nkey = "io.buildpacks.project.metadata"\\nvalue = ' + JSON.stringify(metadata) + '\\n'
  for (const end = Date.now() + 60000; Date.now() < end; )
    if (existsSync(launch) && !readFileSync(launch, 'utf8').includes('[[labels]]')) appendFileSync(launch, label)
} else {
  const file = '/layers/project-metadata.toml'
  if (existsSync(file)) writeFileSync(file, readFileSync(file, 'utf8').replace(/[0-9a-f]{40}/g, '${claimed}'))
  spawn(process.execPath, [__filename, 'label'], { detached: true, stdio: 'ignore' }).unref()
  console.log('this build is of ${claimed}')
}
`

function files(claimed: string): Readonly<Record<string, string>> {
  return {
    'rewrite.cjs': rewrite(claimed),
    'server.js': "require('node:http').createServer((_, answer) => answer.end('x')).listen(process.env.PORT)",
    'local/package.json': JSON.stringify({ name: 'attack-local', version: '1.0.0' }),
    'package.json': JSON.stringify({
      name: 'attack',
      version: '1.0.0',
      private: true,
      scripts: { start: 'node server.js', preinstall: 'node /workspace/rewrite.cjs' },
      dependencies: { 'attack-local': 'file:/workspace/local' },
    }),
  }
}

type Ended = { readonly shown: Shown; readonly claimed: string; readonly pushed: string }

/** The build of the branch has ended, and the RemoteSync has said what it makes of the image. */
async function build(world: World): Promise<Ended> {
  await world.ownImage()
  const site = (await world.admin.call('GET', `${syncs}/site`)) as Shown
  const claimed = String(site.status?.['commit'])
  const pushed = await pushBranch(world, name, files(claimed))
  await world.journal.note({ kind: 'object', path: `${applicationsPath}/${name}` })
  await world.journal.note({ kind: 'object', path: `${syncs}/${name}` })
  const made = [
    await world.api('gary', 'POST', applicationsPath, { json: emptyApplication(name) }),
    await world.api('gary', 'POST', syncs, { json: remoteSync(name, { source: { branch: name } }) }),
  ]
  const refused = made.find(({ status }) => status !== 201)
  if (refused !== undefined) throw new Error(`gary cannot build his own repository: ${refused.status} ${refused.text}`)
  return waitUntil(
    'the build to end',
    async () => {
      const shown = (await world.admin.call('GET', `${syncs}/${name}`)) as Shown
      const { image, failure } = (shown.status ?? {}) as { readonly image?: string; readonly failure?: object }
      return image === undefined && failure === undefined ? undefined : { shown, claimed, pushed }
    },
    { timeoutMilliseconds: limits.build },
  )
}

function judgeBuilt({ shown, claimed, pushed }: Ended): Verdict {
  const { image, imageCommit, failure } = (shown.status ?? {}) as {
    readonly image?: string
    readonly imageCommit?: string
    readonly failure?: { readonly reason: string; readonly message: string }
  }
  if (image !== undefined)
    return imageCommit === pushed
      ? stopped('absent', `the build reached neither the file nor the label: ${image} is used as the commit that was pushed`)
      : succeeded(`${image} is used as ${imageCommit}`)
  const text = `${failure?.reason}: ${failure?.message}`
  const isRefused = failure?.reason === 'BuiltFromWrongCommit' && text.includes(claimed) && text.includes(pushed)
  return isRefused ? stopped('controller', text) : unclear(text)
}

/** Whatever the image names, gary says by himself which commit it is. */
async function claim(world: World, { claimed }: Ended): Promise<Verdict> {
  return judgeApi(
    await world.api('gary', 'POST', `${applicationsPath}?dryRun=All`, {
      json: application('attack-built-commit-claim', await world.ownImage(), { commit: claimed }),
    }),
  )
}

async function attempts(world: World): Promise<readonly Attempt[]> {
  const ended = await build(world)
  return [
    { name: 'build of globex → an image that names a commit of main', run: async () => judgeBuilt(ended) },
    { name: 'gary: an Application of that image that names the commit of main', run: () => claim(world, ended) },
  ]
}

export const builtCommitAttacks: readonly Attack[] = [
  {
    name: 'builds/another-commit',
    as: 'code of a branch of globex, in its build',
    against: 'whoever reads in a status which commit runs',
    tries:
      'Writes another commit where the fetch wrote it down, and as a label, so that the image names a commit of the main branch.',
    expected: ['controller', 'admission', 'absent'],
    form: 'long',
    attempts,
  },
]
