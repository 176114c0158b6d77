// Builds with buildpacks as pods of the platform, on a real API server: which builder gets a build, and how a pod becomes the
// image of an Application. The tests act as the kubelet and as kpack; test/e2e runs the phases themselves.
import { expect, test } from 'vitest'
import { remoteSync } from '../../src/api/apps/remote-sync.ts'
import { pods } from '../../src/api/builtin/index.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { buildpacksScope } from '../../src/services/builds/buildpacks/buildpacks-builder.ts'
import { sourceOf } from '../../src/services/builds/buildpacks/pod-manifest.ts'
import { kpackBuilds } from '../../src/services/builds/kpack/resources.ts'
import { withCharts } from '../fixtures/application-controller.ts'
import { readyReason, runPods } from '../fixtures/application-fixture.ts'
import { type RemoteSyncFixture, startRemoteSyncFixture } from '../fixtures/remote-sync-fixture.ts'

const digest = `sha256:${'d'.repeat(64)}`
const runImage = `sha256:${'a'.repeat(64)}`
const renderer = withCharts()

const podOf = ({ client, namespace }: RemoteSyncFixture, commit: string) =>
  waitUntil(`the pod that builds ${commit}`, async () => {
    const found = (await client.list(pods, { namespace, ...buildpacksScope })).find(pod => sourceOf(pod).commit === commit)
    if (found === undefined) throw new Error(JSON.stringify((await client.get(remoteSync, { namespace, name: 'shop' }))?.status))
    return found
  })

async function asked(): Promise<RemoteSyncFixture & { readonly commit: string }> {
  const fixture = await startRemoteSyncFixture(renderer, { inPods: true })
  const commit = await fixture.github.push('one')
  await fixture.applyApplication()
  return { ...fixture, commit }
}

test('a pod builds, kpack does not, and the image is deployed on the run image that the pod was given', async () => {
  const fixture = await asked()
  const { client, namespace, commit } = fixture
  await fixture.setRunImage(runImage)
  await fixture.applyRemoteSync()
  await fixture.approve()
  const built = await fixture.endPod(await podOf(fixture, commit), digest)
  await runPods(client, namespace, built, 1)
  await readyReason(client, remoteSync, { namespace, name: 'shop' }, 'Deployed')
  const { status } = (await client.get(remoteSync, { namespace, name: 'shop' })) ?? {}
  expect(status).toMatchObject({ image: built, imageCommit: commit, runImage, imageBuilder: { name: namespace, stack: 'base' } })
  expect(await client.list(kpackBuilds, { namespace })).toEqual([])
})

test('kpack builds with a builder of which too little is known, and no pod of ours is made beside', async () => {
  const fixture = await asked()
  await fixture.setRunImage('latest')
  await fixture.applyRemoteSync()
  await fixture.approve()
  const build = await fixture.buildOf(fixture.commit)
  // The builder is known now; the build that runs is not begun again.
  await fixture.setRunImage(runImage)
  await fixture.wake()
  await fixture.endBuild(build, {
    conditions: [{ type: 'Succeeded', status: 'True' }],
    latestImage: `registry.example.com/shop@${digest}`,
  })
  await runPods(fixture.client, fixture.namespace, `registry.example.com/shop@${digest}`, 1)
  await readyReason(fixture.client, remoteSync, { namespace: fixture.namespace, name: 'shop' }, 'Deployed')
  expect(await fixture.client.list(pods, { namespace: fixture.namespace, ...buildpacksScope })).toEqual([])
})
