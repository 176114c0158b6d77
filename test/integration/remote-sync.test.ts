// The RemoteSync controller on a real API server with a real source store and real git: from a commit to a running Application,
// and every way in which that halts. The tests act as kpack, the grant controller and the kubelet; test/e2e runs the real ones.

import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { application } from '../../src/api/apps/application.ts'
import { type RemoteSync, remoteSync } from '../../src/api/apps/remote-sync.ts'
import { installation } from '../../src/api/github/installation.ts'
import { repositoryGrant } from '../../src/api/github/repository-grant.ts'
import { findCondition } from '../../src/kube/object/conditions.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { kpackBuilds } from '../../src/services/builds/kpack/resources.ts'
import { withCharts } from '../fixtures/application-controller.ts'
import { readyReason, runPods } from '../fixtures/application-fixture.ts'
import {
  failed,
  fieldManager,
  image,
  type RemoteSyncFixture,
  startRemoteSyncFixture,
  succeeded,
} from '../fixtures/remote-sync-fixture.ts'
import { token } from '../fixtures/small-github.ts'

const run = promisify(execFile)

const renderer = withCharts()

function becomes(fixture: RemoteSyncFixture, reason: string, name = 'shop'): Promise<RemoteSync> {
  return readyReason(fixture.client, remoteSync, { namespace: fixture.namespace, name }, reason)
}

async function messageOf(fixture: RemoteSyncFixture, type = 'Ready'): Promise<string> {
  const object = await fixture.client.get(remoteSync, { namespace: fixture.namespace, name: 'shop' })
  return findCondition(object?.status?.conditions, type)?.message ?? ''
}

/** A fixture whose Application runs commit `one`. */
async function deployed(options: { concurrentBuilds?: number } = {}): Promise<RemoteSyncFixture & { readonly first: string }> {
  const fixture = await startRemoteSyncFixture(renderer, options)
  const first = await fixture.github.push('one')
  await fixture.applyApplication()
  await fixture.applyRemoteSync()
  await fixture.approve()
  await fixture.endBuild(await fixture.buildOf(first), succeeded(1))
  await runPods(fixture.client, fixture.namespace, image(1), 1)
  await becomes(fixture, 'Deployed')
  return { ...fixture, first }
}

async function status(url: string): Promise<number> {
  return (await fetch(`${url}/info/refs?service=git-upload-pack`)).status
}

describe('RemoteSync', () => {
  test('goes from a branch to a running Application, and from a push to the next version', async () => {
    const fixture = await startRemoteSyncFixture(renderer)
    const { client, namespace, github } = fixture
    const first = await github.push('one')
    await fixture.applyApplication()
    await fixture.applyRemoteSync()
    await becomes(fixture, 'WaitingForGrant')
    const grant = await fixture.approve()
    expect(grant.spec).toMatchObject({
      repositories: ['acme/shop'],
      permissions: { contents: 'read' },
      requestedBy: 'github|github.localhost|1',
    })
    expect(grant.metadata.ownerReferences).toMatchObject([{ kind: 'RemoteSync', name: 'shop', controller: true }])

    const build = await fixture.buildOf(first)
    expect(JSON.stringify(build)).not.toContain(token)
    const url = build.spec.source.git?.url ?? ''
    const folder = await mkdtemp(join(tmpdir(), 'clone-'))
    await run('git', ['clone', '--quiet', url, folder])
    expect(await readFile(join(folder, 'page.txt'), 'utf8')).toBe('one')
    await rm(folder, { recursive: true })
    await becomes(fixture, 'Building')

    await fixture.endBuild(build, succeeded(1))
    await readyReason(client, application, { namespace, name: 'shop' }, 'RollingOut')
    expect((await client.get(application, { namespace, name: 'shop' }))?.spec).toMatchObject({ image: image(1), commit: first })
    expect(await status(url)).toBe(404)
    await runPods(client, namespace, image(1), 1)
    const one = await becomes(fixture, 'Deployed')
    expect(one.status).toMatchObject({ commit: first, image: image(1), imageCommit: first })
    const { signalledAt, resolvedAt, fetchedAt, buildCreatedAt, builtAt, deployedAt, availableAt } = one.status?.phases ?? {}
    const times = [signalledAt, resolvedAt, fetchedAt, buildCreatedAt, builtAt, deployedAt, availableAt]
    expect(times).toEqual([...times].sort())
    expect(times.every(time => time !== undefined)).toBe(true)

    const second = await github.push('two')
    await fixture.wake()
    const next = await fixture.buildOf(second)
    expect(next.spec['lastBuild']).toEqual({ image: image(1), stackId: 'base' })
    await fixture.endBuild(next, succeeded(2))
    await runPods(client, namespace, image(2), 1)
    await waitUntil('the second commit runs', async () => {
      const { status: now } = await becomes(fixture, 'Deployed')
      return now?.imageCommit === second
    })
  })

  test('rests when all is done: an unrelated change writes nothing, a webhook without a new commit costs one request', async () => {
    const fixture = await deployed()
    const [requests, tokens] = [fixture.github.branchRequests(), fixture.tokenRequests()]
    fixture.writes.length = 0
    const touch = { metadata: { annotations: { touched: 'yes' } } }
    await fixture.client.mergePatch(remoteSync, { namespace: fixture.namespace, name: 'shop' }, touch, { fieldManager })
    await fixture.wake()
    await waitUntil('the wake is handled', async () => fixture.writes.includes('status RemoteSync shop'))
    expect(fixture.github.branchRequests()).toBe(requests + 1)
    expect(fixture.tokenRequests()).toBe(tokens + 1)
    expect(fixture.writes).toEqual(['status RemoteSync shop'])
  })

  test('a failed build names its step, is not repeated, keeps the running version, and is retried when woken', async () => {
    const fixture = await deployed()
    const { client, namespace } = fixture
    const bad = await fixture.github.push('bad')
    await fixture.wake()
    const build = await fixture.buildOf(bad)
    await fixture.endBuild(build, failed('Error: Container detect terminated with error no buildpacks participating'))
    await becomes(fixture, 'BuildFailed')
    const message = await messageOf(fixture)
    expect(message).toContain('step detect failed')
    expect(message).toContain('the version before keeps serving')
    expect((await client.get(application, { namespace, name: 'shop' }))?.spec.commit).toBe(fixture.first)
    await client.mergePatch(
      remoteSync,
      { namespace, name: 'shop' },
      { metadata: { annotations: { touched: 'yes' } } },
      { fieldManager },
    )
    await client.mergePatch(
      application,
      { namespace, name: 'shop' },
      { spec: { env: [{ name: 'A', value: '1' }] } },
      { fieldManager },
    )
    await runPods(client, namespace, image(1), 1)
    await becomes(fixture, 'BuildFailed')
    expect((await client.list(kpackBuilds, { namespace })).filter(item => item.spec.source.git?.revision === bad)).toHaveLength(1)
    await fixture.wake()
    const again = await fixture.buildOf(bad, build.metadata.name)
    await fixture.endBuild(again, succeeded(2))
    await runPods(client, namespace, image(2), 1)
    expect((await becomes(fixture, 'Deployed')).status).toMatchObject({ imageCommit: bad, build: { attempt: 2 } })
  })

  test('a build that could not read its source is retried, and nobody is asked to fix anything', async () => {
    const fixture = await deployed()
    const unlucky = await fixture.github.push('unlucky')
    await fixture.wake()
    const build = await fixture.buildOf(unlucky)
    await fixture.endBuild(build, failed('Error: Container prepare terminated with error'))
    const again = await fixture.buildOf(unlucky, build.metadata.name)
    await fixture.endBuild(again, succeeded(2))
    await runPods(fixture.client, fixture.namespace, image(2), 1)
    expect((await becomes(fixture, 'Deployed')).status).toMatchObject({ imageCommit: unlucky, build: { attempt: 2 } })
  })

  test('a newer commit cancels the build of the older one', async () => {
    const fixture = await deployed()
    const older = await fixture.github.push('older')
    await fixture.wake()
    const build = await fixture.buildOf(older)
    const newer = await fixture.github.push('newer')
    await fixture.wake()
    await fixture.buildOf(newer)
    await waitUntil('the older build is gone', async () =>
      (await fixture.client.get(kpackBuilds, { namespace: fixture.namespace, name: build.metadata.name })) ? undefined : true,
    )
  })

  test('an image that was built from another commit is not used', async () => {
    const fixture = await deployed()
    const { client, namespace } = fixture
    const commit = await fixture.github.push('two')
    await fixture.wake()
    const build = await fixture.buildOf(commit)
    await fixture.endBuild(build, succeeded(6), 'f'.repeat(40))
    await becomes(fixture, 'BuiltFromWrongCommit')
    expect((await client.get(application, { namespace, name: 'shop' }))?.spec.image).toBe(image(1))
  })

  test('builds beyond the tenant’s limit are queued', async () => {
    const fixture = await startRemoteSyncFixture(renderer, { concurrentBuilds: 1 })
    const commit = await fixture.github.push('one')
    for (const name of ['first', 'second']) await fixture.applyApplication(name)
    await fixture.applyRemoteSync({}, 'first')
    await fixture.approve('first')
    const build = await fixture.buildOf(commit)
    await fixture.applyRemoteSync({}, 'second')
    await fixture.approve('second')
    await becomes(fixture, 'Queued', 'second')
    await fixture.endBuild(build, succeeded(1))
    const next = await fixture.buildOf(commit, build.metadata.name)
    expect(next.metadata.name).toMatch(/^second-/)
    await becomes(fixture, 'Building', 'second')
  })

  test('tells what is missing, and goes on by itself when it appears', async () => {
    const fixture = await startRemoteSyncFixture(renderer)
    const commit = await fixture.github.push('one')
    await fixture.applyRemoteSync({ source: { branch: 'gone' } })
    await fixture.approve()
    await becomes(fixture, 'BranchNotFound')
    expect(await messageOf(fixture)).toContain('acme/shop has no branch gone')
    await fixture.applyRemoteSync()
    await becomes(fixture, 'ApplicationNotFound')
    await fixture.applyApplication()
    await fixture.buildOf(commit)
    await fixture.applyRemoteSync({ installation: 'other' })
    await becomes(fixture, 'InstallationNotReady')
    expect(await messageOf(fixture)).toContain('there is no Installation other')
  })

  test('goes on at once when the App was installed again, under another installation', async () => {
    const fixture = await deployed()
    const { client, namespace, github } = fixture
    await client.delete(installation, { namespace, name: 'github' })
    await becomes(fixture, 'InstallationNotReady')
    const commit = await github.push('two')
    // No webhook came of the push, because the App was not installed.
    await fixture.bind(2)
    await fixture.buildOf(commit)
  })

  test('of two RemoteSyncs with the same Application, the second is refused', async () => {
    const fixture = await deployed()
    await fixture.applyRemoteSync({ application: 'shop' }, 'rival')
    await becomes(fixture, 'ApplicationTaken', 'rival')
    expect((await becomes(fixture, 'Deployed')).status?.imageCommit).toBe(fixture.first)
  })

  test('another requester gets another grant, which is decided again', async () => {
    const fixture = await deployed()
    const before = await fixture.client.get(repositoryGrant, { namespace: fixture.namespace, name: 'remotesync-shop' })
    await fixture.applyRemoteSync({ requestedBy: 'github|github.localhost|2' })
    const after = await fixture.approve()
    expect(after.metadata.uid).not.toBe(before?.metadata.uid)
    expect(after.spec.requestedBy).toBe('github|github.localhost|2')
    await becomes(fixture, 'Deployed')
  })

  test('a build whose RemoteSync went without its finalizer is ended, and others stay', async () => {
    const fixture = await deployed()
    const { client, namespace } = fixture
    const commit = await fixture.github.push('two')
    await fixture.wake()
    const { metadata, spec, apiVersion, kind } = await fixture.buildOf(commit)
    // What a tenant leaves who removes the finalizer and deletes: of a name that is gone, and of one that exists again.
    const left = (name: string, owner: string) => ({
      apiVersion,
      kind,
      spec,
      metadata: {
        name,
        namespace,
        labels: { ...metadata.labels, 'sekisho.dev/remote-sync-uid': 'gone' },
        annotations: { 'sekisho.dev/remote-sync': `${namespace}/${owner}` },
      },
    })
    await client.create(kpackBuilds, left('left-1', 'ghost'), { fieldManager })
    await client.create(kpackBuilds, left('left-2', 'shop'), { fieldManager })
    await waitUntil('both are gone', async () => {
      const names = (await client.list(kpackBuilds, { namespace })).map(build => build.metadata.name)
      return names.includes(metadata.name) && !names.some(name => name.startsWith('left-'))
    })
  })

  test('its deletion ends its build and its source, and leaves the Application running', async () => {
    const fixture = await deployed()
    const { client, namespace } = fixture
    const commit = await fixture.github.push('two')
    await fixture.wake()
    const build = await fixture.buildOf(commit)
    const url = build.spec.source.git?.url ?? ''
    expect(await status(url)).toBe(200)
    await client.delete(remoteSync, { namespace, name: 'shop' })
    await waitUntil('the RemoteSync is gone', async () =>
      (await client.get(remoteSync, { namespace, name: 'shop' })) ? undefined : true,
    )
    expect(await client.list(kpackBuilds, { namespace })).toEqual([])
    expect(await status(url)).toBe(404)
    expect((await client.get(application, { namespace, name: 'shop' }))?.spec.commit).toBe(fixture.first)
    await waitUntil('the grant is garbage collected', async () =>
      (await client.get(repositoryGrant, { namespace, name: 'remotesync-shop' })) ? undefined : true,
    )
  })
})
