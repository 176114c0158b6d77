// The RemoteSync controller on a real API server with a real source store and real git: from a commit to a running Application, and every
// way in which that stops. kpack, grants and pods are played; test/e2e runs the real ones.
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { application } from '../../src/api/apps/application.ts'
import { type RemoteSync, remoteSync } from '../../src/api/apps/remote-sync.ts'
import { repositoryGrant } from '../../src/api/github/repository-grant.ts'
import { kpackBuilds } from '../../src/builds/kpack/resources.ts'
import { type ChartRenderer, createChartRenderer } from '../../src/charts/renderer.ts'
import { findCondition } from '../../src/kube/object/conditions.ts'
import { installDefinitions, installKinds, patience, readyReason, runPods } from '../fixtures/application-fixture.ts'
import { waitUntil } from '../fixtures/harness.ts'
import {
  failed,
  fieldManager,
  image,
  kpackDefinitions,
  succeeded,
  type World,
  withWorld,
} from '../fixtures/remote-sync-fixture.ts'
import { token } from '../fixtures/small-github.ts'

const run = promisify(execFile)

let renderer: ChartRenderer
beforeAll(async () => {
  await installKinds()
  await installDefinitions(kpackDefinitions)
  renderer = createChartRenderer()
  renderer.warmUp()
})
afterAll(() => renderer.stop())

function becomes(world: World, reason: string, name = 'shop'): Promise<RemoteSync> {
  return readyReason(world.client, remoteSync, world.namespace, name, reason)
}

async function messageOf(world: World, type = 'Ready'): Promise<string> {
  const object = await world.client.get(remoteSync, { namespace: world.namespace, name: 'shop' })
  return findCondition(object?.status?.conditions, type)?.message ?? ''
}

/** A world in which commit `one` runs. */
async function deployed(options: { concurrentBuilds?: number } = {}): Promise<World & { readonly first: string }> {
  const world = await withWorld(renderer, options)
  const first = await world.github.push('one')
  await world.applyApplication()
  await world.applyRemoteSync()
  await world.approve()
  await world.endBuild(await world.buildOf(first), succeeded(1))
  await runPods(world.client, world.namespace, image(1), 1)
  await becomes(world, 'Deployed')
  return { ...world, first }
}

async function status(url: string): Promise<number> {
  return (await fetch(`${url}/info/refs?service=git-upload-pack`)).status
}

describe('RemoteSync', () => {
  test('goes from a branch to a running Application, and from a push to the next version', async () => {
    const world = await withWorld(renderer)
    const { client, namespace, github } = world
    const first = await github.push('one')
    await world.applyApplication()
    await world.applyRemoteSync()
    await becomes(world, 'WaitingForGrant')
    const grant = await world.approve()
    expect(grant.spec).toMatchObject({
      repositories: ['acme/shop'],
      permissions: { contents: 'read' },
      requestedBy: 'github|github.localhost|1',
    })
    expect(grant.metadata.ownerReferences).toMatchObject([{ kind: 'RemoteSync', name: 'shop', controller: true }])

    const build = await world.buildOf(first)
    expect(JSON.stringify(build)).not.toContain(token)
    const url = build.spec.source.git?.url ?? ''
    const folder = await mkdtemp(join(tmpdir(), 'clone-'))
    await run('git', ['clone', '--quiet', url, folder])
    expect(await readFile(join(folder, 'page.txt'), 'utf8')).toBe('one')
    await rm(folder, { recursive: true })
    await becomes(world, 'Building')

    await world.endBuild(build, succeeded(1))
    await readyReason(client, application, namespace, 'shop', 'RollingOut')
    expect((await client.get(application, { namespace, name: 'shop' }))?.spec).toMatchObject({ image: image(1), commit: first })
    expect(await status(url)).toBe(404)
    await runPods(client, namespace, image(1), 1)
    const one = await becomes(world, 'Deployed')
    expect(one.status).toMatchObject({ commit: first, image: image(1), imageCommit: first })
    const { signalledAt, resolvedAt, fetchedAt, buildCreatedAt, builtAt, deployedAt, availableAt } = one.status?.phases ?? {}
    const times = [signalledAt, resolvedAt, fetchedAt, buildCreatedAt, builtAt, deployedAt, availableAt]
    expect(times).toEqual([...times].sort())
    expect(times.every(time => time !== undefined)).toBe(true)

    const second = await github.push('two')
    await world.wake()
    const next = await world.buildOf(second)
    expect(next.spec['lastBuild']).toEqual({ image: image(1), stackId: 'base' })
    await world.endBuild(next, succeeded(2))
    await runPods(client, namespace, image(2), 1)
    await waitUntil(
      'the second commit runs',
      async () => {
        const { status: now } = await becomes(world, 'Deployed')
        return now?.imageCommit === second || undefined
      },
      patience,
    )
  })

  test('rests when all is done: a change that concerns nobody writes nothing, a webhook without news costs one question', async () => {
    const world = await deployed()
    const [asked, tokens] = [world.github.branchRequests(), world.tokenRequests()]
    world.writes.length = 0
    const poke = { metadata: { annotations: { poke: 'me' } } }
    await world.client.mergePatch(remoteSync, { namespace: world.namespace, name: 'shop' }, poke, { fieldManager })
    await world.wake()
    await waitUntil('the wake is handled', async () => world.writes.includes('status RemoteSync shop') || undefined, patience)
    expect(world.github.branchRequests()).toBe(asked + 1)
    expect(world.tokenRequests()).toBe(tokens + 1)
    expect(world.writes).toEqual(['status RemoteSync shop'])
  })

  test('a failing build says which step, is not repeated, keeps the running version, and is tried again when woken', async () => {
    const world = await deployed()
    const { client, namespace } = world
    const bad = await world.github.push('bad')
    await world.wake()
    const build = await world.buildOf(bad)
    await world.endBuild(build, failed('Error: Container detect terminated with error no buildpacks participating'))
    await becomes(world, 'BuildFailed')
    const message = await messageOf(world)
    expect(message).toContain('step detect failed')
    expect(message).toContain('the version before keeps serving')
    expect((await client.get(application, { namespace, name: 'shop' }))?.spec.commit).toBe(world.first)
    await client.mergePatch(
      remoteSync,
      { namespace, name: 'shop' },
      { metadata: { annotations: { poke: 'me' } } },
      { fieldManager },
    )
    await client.mergePatch(
      application,
      { namespace, name: 'shop' },
      { spec: { env: [{ name: 'A', value: '1' }] } },
      { fieldManager },
    )
    await runPods(client, namespace, image(1), 1)
    await becomes(world, 'BuildFailed')
    expect((await client.list(kpackBuilds, { namespace })).filter(item => item.spec.source.git?.revision === bad)).toHaveLength(1)
    await world.wake()
    const again = await world.buildOf(bad, build.metadata.name)
    await world.endBuild(again, succeeded(2))
    await runPods(client, namespace, image(2), 1)
    expect((await becomes(world, 'Deployed')).status).toMatchObject({ imageCommit: bad, build: { attempt: 2 } })
  })

  test('a build that did not get its source is made anew, and nobody is told to mend anything', async () => {
    const world = await deployed()
    const unlucky = await world.github.push('unlucky')
    await world.wake()
    const build = await world.buildOf(unlucky)
    await world.endBuild(build, failed('Error: Container prepare terminated with error'))
    const again = await world.buildOf(unlucky, build.metadata.name)
    await world.endBuild(again, succeeded(2))
    await runPods(world.client, world.namespace, image(2), 1)
    expect((await becomes(world, 'Deployed')).status).toMatchObject({ imageCommit: unlucky, build: { attempt: 2 } })
  })

  test('a newer commit cancels the build of the older one', async () => {
    const world = await deployed()
    const older = await world.github.push('older')
    await world.wake()
    const build = await world.buildOf(older)
    const newer = await world.github.push('newer')
    await world.wake()
    await world.buildOf(newer)
    await waitUntil(
      'the older build is gone',
      async () =>
        (await world.client.get(kpackBuilds, { namespace: world.namespace, name: build.metadata.name })) ? undefined : true,
      patience,
    )
  })

  test('an image that was built from another commit is not used', async () => {
    const world = await deployed()
    const { client, namespace } = world
    const commit = await world.github.push('two')
    await world.wake()
    const build = await world.buildOf(commit)
    const forged = { spec: { source: { git: { revision: 'f'.repeat(40) } } } }
    await client.mergePatch(kpackBuilds, { namespace, name: build.metadata.name }, forged, { fieldManager })
    await world.endBuild(build, succeeded(6))
    await becomes(world, 'BuiltFromWrongCommit')
    expect((await client.get(application, { namespace, name: 'shop' }))?.spec.image).toBe(image(1))
  })

  test('builds beyond the tenant’s limit wait for their turn', async () => {
    const world = await withWorld(renderer, { concurrentBuilds: 1 })
    const commit = await world.github.push('one')
    for (const name of ['first', 'second']) await world.applyApplication(name)
    await world.applyRemoteSync({}, 'first')
    await world.approve('first')
    const build = await world.buildOf(commit)
    await world.applyRemoteSync({}, 'second')
    await world.approve('second')
    await becomes(world, 'Queued', 'second')
    await world.endBuild(build, succeeded(1))
    const next = await world.buildOf(commit, build.metadata.name)
    expect(next.metadata.name).toMatch(/^second-/)
    await becomes(world, 'Building', 'second')
  })

  test('says what is missing, and goes on by itself when it appears', async () => {
    const world = await withWorld(renderer)
    const commit = await world.github.push('one')
    await world.applyRemoteSync({ source: { branch: 'gone' } })
    await world.approve()
    await becomes(world, 'BranchNotFound')
    expect(await messageOf(world)).toContain('acme/shop has no branch gone')
    await world.applyRemoteSync()
    await becomes(world, 'ApplicationNotFound')
    await world.applyApplication()
    await world.buildOf(commit)
    await world.applyRemoteSync({ installation: 'other' })
    await becomes(world, 'InstallationNotReady')
    expect(await messageOf(world)).toContain('there is no Installation other')
  })

  test('two RemoteSyncs do not fight over one Application', async () => {
    const world = await deployed()
    await world.applyRemoteSync({ application: 'shop' }, 'rival')
    await becomes(world, 'ApplicationTaken', 'rival')
    expect((await becomes(world, 'Deployed')).status?.imageCommit).toBe(world.first)
  })

  test('another requester gets another grant, decided anew', async () => {
    const world = await deployed()
    const before = await world.client.get(repositoryGrant, { namespace: world.namespace, name: 'remotesync-shop' })
    await world.applyRemoteSync({ requestedBy: 'github|github.localhost|2' })
    const after = await world.approve()
    expect(after.metadata.uid).not.toBe(before?.metadata.uid)
    expect(after.spec.requestedBy).toBe('github|github.localhost|2')
    await becomes(world, 'Deployed')
  })

  test('deleting it ends its build and its source, and leaves the Application running', async () => {
    const world = await deployed()
    const { client, namespace } = world
    const commit = await world.github.push('two')
    await world.wake()
    const build = await world.buildOf(commit)
    const url = build.spec.source.git?.url ?? ''
    expect(await status(url)).toBe(200)
    await client.delete(remoteSync, { namespace, name: 'shop' })
    await waitUntil(
      'it is gone',
      async () => ((await client.get(remoteSync, { namespace, name: 'shop' })) ? undefined : true),
      patience,
    )
    expect(await client.list(kpackBuilds, { namespace })).toEqual([])
    expect(await status(url)).toBe(404)
    expect((await client.get(application, { namespace, name: 'shop' }))?.spec.commit).toBe(world.first)
    await waitUntil(
      'the grant is collected',
      async () => ((await client.get(repositoryGrant, { namespace, name: 'remotesync-shop' })) ? undefined : true),
      patience,
    )
  })
})
