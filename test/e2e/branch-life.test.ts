// One Application that follows a branch, from the first push to its deletion: the platform is killed during a build, a build
// fails, the branch, the RemoteSync and the Application are deleted. The current version serves until the end. The tests depend
// on each other.
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { leadingPod, type PlatformPod, platformPods } from '../../dev/up/platform-pods.ts'
import { buildpacksBuildLabel } from '../../src/api/buildpacks-build.ts'
import { limits } from '../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { type Branch, openBranch } from './branch.ts'
import { applicationManifest, remoteSyncManifest } from './manifests.ts'
import { find, list, read, readyOf, untilGone, untilReason } from './objects.ts'
import { openPlatform, type Platform } from './platform.ts'
import { requestVersion, type Watch, watchServing } from './serving.ts'
import { expectStillness } from './stillness.ts'

const name = 'e2e-branch'
const remoteSync = `remotesync/${name}`
const application = `application/${name}`
const url = `http://${name}.acme.localhost:8080`

let platform: Platform
let branch: Branch
let first = ''
let second = ''
let shop: Watch

beforeAll(async () => {
  platform = await openPlatform(['dave', 'ada'])
  await platform.remove([remoteSync, application])
  branch = await openBranch(platform.world, name)
  shop = await watchServing(platform.admin, String((await read(platform.admin, 'application/shop')).status?.['url']))
})

afterAll(async () => {
  await platform.remove([remoteSync, application])
  await platform.admin.close()
})

async function buildsOf(commit: string): Promise<readonly string[]> {
  const builds = await list(platform.admin, 'pod', `?labelSelector=${buildpacksBuildLabel}`, 'acme-build')
  return builds
    .filter(({ metadata, spec }) => metadata.name.startsWith(name) && JSON.stringify(spec).includes(commit))
    .map(({ metadata }) => metadata.name)
}

async function untilDeployed(commit: string): Promise<void> {
  await waitUntil(
    `${commit} runs`,
    async () => {
      const { status, ...object } = await read(platform.admin, remoteSync)
      const ready = readyOf({ ...object, ...(status === undefined ? {} : { status }) })
      if (ready?.reason === 'Deployed' && status?.['imageCommit'] === commit) return true
      throw new Error(`${ready?.reason}: ${ready?.message}`)
    },
    { timeoutMilliseconds: limits.build },
  )
}

/** The platform says which commit runs; the page has text that only the source of that commit has. */
async function untilAnswers(commit: string): Promise<void> {
  const title = branch.titleOf(commit)
  await waitUntil(`${url} answers with ${commit} and “${title}”`, async () => {
    const [version, page] = [await requestVersion(url), await requestVersion(url, '/')]
    return version.status === 200 && version.text.includes(commit) && page.text.includes(`<title>${title}</title>`)
  })
}

/** The pod whose controllers act, without a grace period, as when its node fails. */
async function killLeader(): Promise<PlatformPod> {
  const pod = await leadingPod(platform.admin)
  await platform.admin.call('DELETE', `/api/v1/namespaces/sekisho-system/pods/${pod.name}`, { gracePeriodSeconds: 0 })
  return pod
}

test('a pushed branch is served at its URL', async () => {
  first = await branch.push(`first ${new Date().toISOString()}`, {})
  await platform.apply('dave', [applicationManifest(name), remoteSyncManifest(name, { source: { branch: name } })])
  await untilDeployed(first)
  await untilAnswers(first)
})

test('a platform that is killed during a build adopts the build, unless the build needed the registry meanwhile: the new commit is served', async () => {
  const { admin } = platform
  const serving = await watchServing(admin, url)
  onTestFinished(serving.end)
  second = await branch.push(`second ${new Date().toISOString()}`, {})
  const [build] = await waitUntil(
    'the build has read its source',
    async () => {
      const found = await buildsOf(second)
      const ready = readyOf(await read(admin, remoteSync))
      return found.length === 1 && /in step build/.test(ready?.message ?? '') ? found : undefined
    },
    { timeoutMilliseconds: limits.rollout },
  )
  const killed = await killLeader()
  await untilDeployed(second)
  await untilAnswers(second)
  // The platform is the registry's token server: a build that asked for a token while it was away is retried once.
  const builds = await buildsOf(second)
  expect(builds).toContain(build)
  expect(builds.length).toBeLessThanOrEqual(2)
  expect((await read(admin, remoteSync)).status).toMatchObject({ build: { attempt: builds.length }, imageCommit: second })
  expect((await platformPods(admin)).map(({ uid }) => uid)).not.toContain(killed.uid)
  await serving.endServed(1)
})

test('a platform that is killed before the builder has read its source retries the build by itself', async () => {
  const { admin } = platform
  const serving = await watchServing(admin, url)
  onTestFinished(serving.end)
  second = await branch.push(`third ${new Date().toISOString()}`, {})
  await waitUntil('the build is created', async () => (await buildsOf(second)).length === 1, {
    timeoutMilliseconds: limits.rollout,
  })
  await killLeader()
  await untilDeployed(second)
  await untilAnswers(second)
  expect((await buildsOf(second)).length).toBeLessThanOrEqual(2)
  expect((await read(admin, remoteSync)).status?.['failedCommit']).toBeUndefined()
  await serving.endServed(1)
})

test('a build that cannot install its packages reports the end of the log; the previous version keeps serving', async () => {
  const manifest = { name: 'shop', version: '1.0.0', private: true, dependencies: { 'left-behind': 'file:./left-behind.tgz' } }
  const broken = await branch.push('broken', { 'package.json': JSON.stringify(manifest) })
  const ready = await untilReason(platform.admin, remoteSync, 'BuildFailed', 120)
  expect(ready.message).toMatch(/step build failed/)
  expect(ready.message).toMatch(/left-behind\.tgz/)
  expect(ready.message).toMatch(/push again/)
  expect(ready.message).toMatch(/the version before keeps serving/)
  expect((await read(platform.admin, remoteSync)).status).toMatchObject({ failedCommit: broken, imageCommit: second })
  await untilAnswers(second)
  await expectStillness(platform.admin, [remoteSync, application], 5, 15)
  expect(await buildsOf(broken)).toHaveLength(1)
})

test('a deleted branch is reported with what to do; the previous version keeps serving', async () => {
  await branch.delete()
  const ready = await untilReason(platform.admin, remoteSync, 'BranchNotFound')
  expect(ready.message).toMatch(/acme\/shop has no branch e2e-branch: push it, or name another one/)
  await untilAnswers(second)
  await expectStillness(platform.admin, [remoteSync, application], 5, 15)
})

type AuditLine = {
  readonly action: string
  readonly object: string
  readonly details: { readonly token?: string; readonly grantUid?: string }
}

async function auditLines(action: string): Promise<readonly AuditLine[]> {
  const { code, output, errors } = await platform.sekisho('ada', [
    'audit',
    'list',
    '--namespace',
    'acme',
    '--action',
    action,
    '--limit',
    '500',
    '-o',
    'json',
  ])
  expect({ code, errors }).toMatchObject({ code: 0 })
  return JSON.parse(output)
}

test('a deleted RemoteSync deletes its grant and revokes its tokens; the Application keeps serving', async () => {
  const { admin } = platform
  const grant = `repositorygrant/remotesync-${name}`
  const { uid } = (await read(admin, grant)).metadata
  const minted = (await auditLines('token.minted')).filter(({ details }) => details.grantUid === uid)
  expect(minted.length).toBeGreaterThan(0)
  expect(await platform.kubectl('dave', ['delete', remoteSync, '-n', 'acme', '--timeout=60s'])).toMatchObject({ code: 0 })
  await untilGone(admin, [remoteSync, grant])
  const revoked = new Set((await auditLines('token.revoked')).map(({ details }) => details.token))
  expect(minted.filter(({ details }) => !revoked.has(details.token))).toEqual([])
  await untilAnswers(second)
  await waitUntil('its builds are gone', async () => (await buildsOf(second)).length === 0)
})

test('a deleted Application deletes its Deployment, Service and Ingress', async () => {
  const { admin } = platform
  const inventory = (await read(admin, application)).status?.['inventory'] as readonly { kind: string; name: string }[]
  const named = inventory.map(({ kind, name: own }) => `${kind.toLowerCase()}/${own}`)
  expect(named.map(reference => reference.split('/')[0]).sort()).toEqual(['deployment', 'ingress', 'service'])
  for (const reference of named) expect(await find(admin, reference), reference).toBeDefined()
  expect(await platform.kubectl('dave', ['delete', application, '-n', 'acme', '--timeout=60s'])).toMatchObject({ code: 0 })
  await untilGone(admin, named)
  await waitUntil(`${url} answers 404`, async () => (await requestVersion(url)).status === 404)
})

test('the shop answered 200 all the time', async () => {
  await shop.endServed(101)
})
