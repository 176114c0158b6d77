// A commit that says that it is another: its build rewrites the commit in the image's metadata to the newest one of the main
// branch, which people have reviewed. An image that names the commit that was asked for is made by code of that commit only: a
// build fetches one commit.
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

const name = 'attack-commit'
const syncs = groupPath('apps.sekisho.dev/v1alpha1', neighbourNamespace, 'remotesyncs')
const builds = groupPath('kpack.io/v1alpha2', `${neighbourNamespace}-build`, 'builds')

/** Runs in the build, before the exporter makes the image from what the steps left. */
const rewrite = (claimed: string): string => `
const { readFileSync, writeFileSync } = require('node:fs')
const file = '/layers/project-metadata.toml'
writeFileSync(file, readFileSync(file, 'utf8').replace(/[0-9a-f]{40}/g, '${claimed}'))
console.log('this build is of ${claimed}')
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
  const text = `${failure?.reason}: ${failure?.message}`
  if (image !== undefined) return succeeded(`${image} is used as ${imageCommit}`)
  const isRefused = failure?.reason === 'BuiltFromWrongCommit' && text.includes(claimed) && text.includes(pushed)
  return isRefused ? stopped('controller', text) : unclear(text)
}

/** The image that was refused is in globex’s repository; gary says by himself which commit it is. */
async function claim(world: World, { claimed }: Ended): Promise<Verdict> {
  const { items } = (await world.admin.call('GET', builds)) as {
    readonly items: readonly {
      readonly metadata: { readonly name: string }
      readonly status?: { readonly latestImage?: string }
    }[]
  }
  const image = items.find(({ metadata, status }) => metadata.name.startsWith(name) && status?.latestImage)?.status?.latestImage
  if (image === undefined) return unclear('the build has no image')
  return judgeApi(
    await world.api('gary', 'POST', `${applicationsPath}?dryRun=All`, {
      json: application('attack-commit-claim', image, { commit: claimed }),
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
    tries: 'Rewrites the commit that kpack wrote down, so that the image names a commit of the main branch.',
    expected: ['controller', 'admission'],
    form: 'long',
    attempts,
  },
]
