// A newer run image of the builder: a running application gets it without a build, with kpack and the lifecycle themselves.
// What is installed in the operating system is new then; the page, the commit and the address are the same.
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { readClusterSettings } from '../../dev/cluster/settings.ts'
import { limits } from '../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { type Branch, openBranch } from './branch.ts'
import { applicationManifest, remoteSyncManifest } from './manifests.ts'
import { list, read, readyOf } from './objects.ts'
import { openPlatform, type Platform } from './platform.ts'
import { withFile } from './run-image.ts'
import { requestVersion, watchServing } from './serving.ts'

const name = 'e2e-rebase'
const remoteSync = `remotesync/${name}`
const application = `application/${name}`
const url = `http://${name}.acme.localhost:8080`
const stack = '/apis/kpack.io/v1alpha2/clusterstacks/sekisho'
const settings = readClusterSettings()

let platform: Platform
let branch: Branch
let former = ''

const runImageOf = async (): Promise<string> =>
  ((await platform.admin.call('GET', stack)) as { readonly spec: { readonly runImage: { readonly image: string } } }).spec
    .runImage.image

async function buildOn(image: string): Promise<void> {
  await platform.admin.call('PATCH', stack, { spec: { runImage: { image } } }, 'application/merge-patch+json')
  await waitUntil(
    `the builder has ${image}`,
    async () => {
      const builder = (await platform.admin.call('GET', '/apis/kpack.io/v1alpha2/clusterbuilders/sekisho')) as {
        readonly status?: { readonly stack?: { readonly runImage?: string } }
      }
      return builder.status?.stack?.runImage?.endsWith(digestOf(image)) || undefined
    },
    { timeoutMilliseconds: limits.rollout },
  )
}

const digestOf = (image: string): string => image.slice(image.indexOf('@') + 1)

beforeAll(async () => {
  platform = await openPlatform(['dave'])
  branch = await openBranch(platform.world, name)
  former = await runImageOf()
})

// Also before the test is repeated: its Releases are counted.
beforeEach(() => platform.remove([remoteSync, application]))

afterAll(async () => {
  await platform.remove([remoteSync, application])
  // What the demo deployed was rebased, too, and follows the builder back.
  await waitUntil(
    'all run on the former run image again',
    async () => {
      const all = await list(platform.admin, 'remotesync', '')
      const others = all.filter(({ status }) => status?.['runImage'] !== undefined && status['runImage'] !== digestOf(former))
      return others.length === 0
    },
    { timeoutMilliseconds: limits.build },
  )
  await platform.admin.close()
})

async function statusOf(reference: string): Promise<Readonly<Record<string, unknown>>> {
  return (await read(platform.admin, reference)).status ?? {}
}

test('an application gets a newer run image without a build, and serves all the time', async () => {
  const commit = await branch.push(`on the run image ${new Date().toISOString()}`, {})
  await platform.apply('dave', [applicationManifest(name), remoteSyncManifest(name, { source: { branch: name } })])
  await waitUntil(
    `${commit} runs`,
    async () => {
      const live = await read(platform.admin, remoteSync)
      return readyOf(live)?.reason === 'Deployed' && live.status?.['imageCommit'] === commit
    },
    { timeoutMilliseconds: limits.build },
  )
  const before = await statusOf(remoteSync)
  expect(String(before['runImage'])).toBe(digestOf(former))

  const newer = await withFile(settings, former, 'os-update.txt', 'patched\n')
  const serving = await watchServing(platform.admin, url)
  onTestFinished(serving.end)
  onTestFinished(() => buildOn(former))
  await buildOn(newer)
  const after = await waitUntil(
    'the application runs on the newer run image',
    async () => {
      const [sync, app] = [await statusOf(remoteSync), await statusOf(application)]
      if (sync['runImage'] === digestOf(newer) && app['image'] === sync['image']) return sync
      throw new Error(JSON.stringify([sync['rebase'], sync['image'], app['image']]))
    },
    { timeoutMilliseconds: limits.build },
  )
  await waitUntil('the rollout is complete', async () => readyOf(await read(platform.admin, remoteSync))?.reason === 'Deployed', {
    timeoutMilliseconds: limits.rollout,
  })
  expect(after).toMatchObject({ imageCommit: commit, imageBuild: before['imageBuild'], build: before['build'] })
  expect(after['image']).not.toBe(before['image'])
  // A grant of the demo stops developers from executing commands in this namespace.
  const file = ['exec', '-n', 'acme', `deployment/${name}-web`, '--', 'cat', '/os-update.txt']
  expect((await platform.asAdministrator(file)).output).toBe('patched\n')
  expect((await requestVersion(url)).text).toContain(commit)
  expect((await requestVersion(url, '/')).text).toContain(branch.titleOf(commit))
  await serving.endServed(11)
  const releases = (await list(platform.admin, 'release')).filter(({ metadata }) => metadata.name.startsWith(`${name}-`))
  expect(releases.map(({ spec }) => spec['reason']).sort()).toEqual(['First', 'Rebased'])
})
