// Releases of an Application on a real API server: numbers, the release job that gates a rollout, automatic roll back, pins,
// and that nothing is released twice. The Deployment and Job controllers are the real ones; the test sets the status of pods,
// as a kubelet would.
import { describe, expect, test } from 'vitest'
import { type Application, application } from '../../src/api/apps/application.ts'
import { type Release, release } from '../../src/api/apps/release.ts'
import { deployments, ingresses, jobs, type Pod, pods, services } from '../../src/api/builtin/index.ts'
import { repositoryGrant } from '../../src/api/github/repository-grant.ts'
import { changedByAnnotation } from '../../src/api/names.ts'
import type { KubeObject, ResourceType } from '../../src/api/resource.ts'
import type { KubeClient } from '../../src/kube/client/client.ts'
import { isKubeError } from '../../src/kube/client/errors.ts'
import { findCondition } from '../../src/kube/object/conditions.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import {
  applyApplication,
  commit,
  image,
  makeChart,
  startApplicationController,
  withCharts,
} from '../fixtures/application-controller.ts'
import { type Fixture, podsOf, readyReason, runPods, setPodStatus, withFixture } from '../fixtures/application-fixture.ts'
import { testAdmin } from '../fixtures/harness.ts'
import { quiet } from '../fixtures/quiet.ts'

const fieldManager = 'test'
const mia = 'github|github.com|7'
const noah = 'github|github.com|8'
const web = { name: 'web', port: 3000, replicas: 1 }
const idle = { name: 'worker', replicas: 0 }
const releaseJob = { command: ['node', 'migrate.js'], timeoutSeconds: 60 }

const renderer = withCharts()

/** A RepositoryGrant of mia, with what GitHub answered about her. */
async function addGrantOfMia({ client, namespace }: Fixture): Promise<void> {
  const { apiVersion, kind } = repositoryGrant
  const wanted = {
    repositories: ['acme/shop'],
    permissions: { contents: 'read' },
    subjects: [{ kind: 'ServiceAccount', name: 'ci' }],
  }
  const spec = { ...wanted, installation: 'github', requestedBy: mia, lifetimeSeconds: 3600, reason: 'test' }
  await client.apply(repositoryGrant, { apiVersion, kind, metadata: { name: 'ci', namespace }, spec } as never, { fieldManager })
  const status = { requester: { login: 'mia' }, checkedAt: '2026-01-01T00:00:00.000Z' }
  const object = { apiVersion, kind, metadata: { name: 'ci', namespace }, status }
  await client.applyStatus(repositoryGrant, object as never, { fieldManager })
}

/** The controller and a chart of this test alone. Resolves to a function that applies Application `shop`. */
async function start(
  prepare: (fixture: Fixture) => Promise<unknown> = async () => undefined,
  clientOf: (fixture: Fixture) => KubeClient = ({ controllersClient }) => controllersClient,
): Promise<Fixture & { readonly apply: (spec: object) => Promise<Application> }> {
  const fixture = await withFixture()
  await prepare(fixture)
  const chart = await makeChart(fixture)
  await startApplicationController(fixture, renderer, { client: clientOf(fixture) })
  const apply = (more: object): Promise<Application> => applyApplication(fixture, { chart, ...more })
  return { ...fixture, apply }
}

const shop = ({ namespace }: Fixture) => ({ namespace, name: 'shop' })
const ready = (fixture: Fixture, reason: string): Promise<Application> =>
  readyReason(fixture.client, application, shop(fixture), reason)

async function releasesOf({ client, namespace }: Fixture): Promise<readonly Release[]> {
  return (await client.list(release, { namespace })).toSorted((a, b) => a.spec.number - b.spec.number)
}

const summary = (found: readonly Release[]) =>
  found.map(({ spec, status }) => [spec.number, spec.reason, findCondition(status?.conditions, 'Ready')?.reason])

/** Waits until the releases are these: number, what changed, what became of it. */
function untilReleases(fixture: Fixture, wanted: ReturnType<typeof summary>): Promise<unknown> {
  return waitUntil(`the releases are ${JSON.stringify(wanted)}`, async () => {
    const found = summary(await releasesOf(fixture))
    if (JSON.stringify(found) === JSON.stringify(wanted)) return true
    throw new Error(JSON.stringify(found))
  })
}

const crashing = (pod: Pod) => ({
  phase: 'Running',
  containerStatuses: (pod.spec?.containers ?? []).map(({ name, image: ref }) => ({
    ...{ name, image: ref, imageID: '', ready: false, restartCount: 3 },
    state: { waiting: { reason: 'CrashLoopBackOff' } },
    lastState: { terminated: { exitCode: 7, reason: 'Error', startedAt: null, finishedAt: null } },
  })),
})

/** The pod of a release job, as soon as there is one. */
function jobPod({ client, namespace }: Fixture, number: number): Promise<Pod> {
  return waitUntil(
    `the pod of the release job of release ${number}`,
    async () =>
      (await client.list(pods, { namespace, labelSelector: `batch.kubernetes.io/job-name=shop-release-v${number}` }))[0],
  )
}

function endedStatus(exitCode: number, message = ''): Record<string, unknown> {
  const times = { startedAt: null, finishedAt: null }
  const terminated = { exitCode, reason: exitCode === 0 ? 'Completed' : 'Error', message, ...times }
  const container = { name: 'release', image: '', imageID: '', ready: false, restartCount: 0, state: { terminated } }
  return { phase: exitCode === 0 ? 'Succeeded' : 'Failed', containerStatuses: [container] }
}

describe('releases', () => {
  test('are numbered, made for changes of what runs and for nothing else, and cannot be changed', async () => {
    const fixture = await start()
    const { client, namespace, apply, writes } = fixture
    await apply({ processes: [idle], image: image(1) })
    await ready(fixture, 'Available')
    await untilReleases(fixture, [[1, 'First', 'RolledOut']])

    await quiet(fixture)
    writes.length = 0
    await client.mergePatch(application, shop(fixture), { metadata: { annotations: { touched: 'yes' } } }, { fieldManager })
    await quiet(fixture)
    expect(writes).toEqual([])

    // Neither the number of pods nor what is about releases themselves is part of a release.
    await apply({ processes: [{ ...idle, replicas: 1 }], image: image(1), releasesKept: 5, rollout: { timeoutSeconds: 60 } })
    await runPods(client, namespace, image(1), 1)
    await ready(fixture, 'Available')
    await apply({ processes: [idle], image: image(2), releasesKept: 5 })
    await ready(fixture, 'Available')
    await apply({ processes: [idle], image: image(2), env: [{ name: 'A', value: '1' }], releasesKept: 5 })
    await ready(fixture, 'Available')
    await untilReleases(fixture, [
      [1, 'First', 'RolledOut'],
      [2, 'NewImage', 'RolledOut'],
      [3, 'SpecChanged', 'RolledOut'],
    ])
    const settled = await ready(fixture, 'Available')
    expect(settled.status).toMatchObject({ release: 3, latestRelease: 3, rollout: { release: 3, before: 2 } })
    const [first] = await releasesOf(fixture)
    expect(first?.spec).toMatchObject({
      application: { name: 'shop', uid: settled.metadata.uid, generation: 1 },
      image: image(1),
      by: { kind: 'FieldManager', name: `unknown (${fieldManager})` },
      snapshot: { image: image(1), processes: [{ name: 'worker' }] },
    })
    const change = client.mergePatch(release, { namespace, name: 'shop-v1' }, { spec: { image: image(9) } }, { fieldManager })
    await expect(change).rejects.toSatisfy(error => isKubeError(error, 422))
  })

  test('name the user who alone changed the spec since the release before, and nobody when others may have', async () => {
    const fixture = await start(addGrantOfMia)
    const { apply, client } = fixture
    await apply({ processes: [idle], image: image(1) })
    await ready(fixture, 'Available')
    /** As admission records it. */
    const change = async (value: string, by = ` ${mia}`): Promise<void> => {
      const { metadata } = await ready(fixture, 'Available')
      const { generation = 0 } = metadata
      const annotations = { [changedByAnnotation]: `${generation + 1}-${generation + 1}${by}` }
      const patch = { metadata: { annotations }, spec: { env: [{ name: 'A', value }] } }
      const changed = await client.mergePatch(application, shop(fixture), patch, { fieldManager })
      expect(changed?.metadata.generation).toBe(generation + 1)
      await ready(fixture, 'Available')
    }
    const last = async () => (await releasesOf(fixture)).at(-1)?.spec
    await change('1')
    expect(await last()).toMatchObject({ number: 2, by: { kind: 'User', name: mia, login: 'mia' } })
    // The controller saw in between what is not a release: it does not count.
    await client.mergePatch(application, shop(fixture), { spec: { releasesKept: 3 } }, { fieldManager })
    expect((await ready(fixture, 'Available')).status).toMatchObject({ releasedGeneration: 3, latestRelease: 2 })
    await change('2')
    expect(await last()).toMatchObject({ number: 3, by: { kind: 'User', name: mia } })
    // GitHub said the login of mia about a grant, which noah does not have.
    await change('3', `@noah ${noah}`)
    expect(await last()).toMatchObject({ number: 4, by: { kind: 'User', name: noah, login: 'noah' } })
    // An annotation from before the change: the webhook was down.
    await client.mergePatch(application, shop(fixture), { spec: { env: [{ name: 'A', value: '4' }] } }, { fieldManager })
    await ready(fixture, 'Available')
    expect(await last()).toMatchObject({ number: 5, by: { kind: 'FieldManager', name: `unknown (${fieldManager})` } })
    expect((await last())?.by.alsoChangedBy).toBeUndefined()
  })

  test('a later one costs one read of the Application, and none is made of a spec that has changed meanwhile', async () => {
    let meanwhile: (() => Promise<unknown>) | undefined
    const fixture = await start(undefined, ({ controllersClient, writes }) => ({
      ...controllersClient,
      async get(type, key) {
        if (type.kind === application.kind) {
          writes.push(`get ${type.kind} ${key.name}`)
          const change = meanwhile
          meanwhile = undefined
          await change?.()
        }
        return controllersClient.get(type, key)
      },
    }))
    const { apply, client, writes: requests } = fixture
    await apply({ processes: [idle], image: image(1) })
    await ready(fixture, 'Available')
    await quiet(fixture)
    requests.length = 0
    await apply({ processes: [idle], image: image(2) })
    await ready(fixture, 'Available')
    const changed = 'apply Deployment shop-worker'
    const upToChange = ['get Application shop', 'create Release shop-v2', 'status Application shop', changed]
    expect(requests.slice(0, requests.indexOf(changed) + 1)).toEqual(upToChange)

    await quiet(fixture)
    meanwhile = () => client.mergePatch(application, shop(fixture), { spec: { image: image(4) } }, { fieldManager })
    await apply({ processes: [idle], image: image(3) })
    await ready(fixture, 'Available')
    expect((await releasesOf(fixture)).map(({ spec }) => spec.image)).toEqual([image(1), image(2), image(4)])
  })

  test('the oldest are deleted, and no number is used again', async () => {
    const fixture = await start()
    const { apply, client, namespace } = fixture
    for (const number of [1, 2, 3, 4]) {
      await apply({ processes: [idle], image: image(number), releasesKept: 2 })
      await ready(fixture, 'Available')
    }
    await untilReleases(fixture, [
      [3, 'NewImage', 'RolledOut'],
      [4, 'NewImage', 'RolledOut'],
    ])
    for (const { metadata } of await releasesOf(fixture)) await client.delete(release, { namespace, name: metadata.name })
    await apply({ processes: [idle], image: image(5), releasesKept: 2 })
    await ready(fixture, 'Available')
    const numbers = (await releasesOf(fixture)).map(({ spec }) => spec.number)
    expect(numbers.at(-1)).toBeGreaterThan(4)
    expect(numbers.every(number => number > 4)).toBe(true)
  })
})

describe('the release job', () => {
  test('runs once with the new image before anything changes, and its failure keeps the earlier release', async () => {
    const fixture = await start()
    const { apply, client, namespace } = fixture
    await apply({ processes: [web], image: image(1) })
    await runPods(client, namespace, image(1), 1)
    await ready(fixture, 'Available')

    await apply({ processes: [web], image: image(2), releaseJob, env: [{ name: 'DATABASE', value: 'shop' }] })
    const waiting = await ready(fixture, 'ReleaseJobRunning')
    expect(waiting.status).toMatchObject({ image: image(1), release: 1, releaseJob: { release: 2, state: 'Running' } })
    const first = await jobPod(fixture, 2)
    const [container] = first.spec?.containers ?? []
    expect(container).toMatchObject({
      image: image(2),
      command: ['node', 'migrate.js'],
      env: expect.arrayContaining([{ name: 'DATABASE', value: 'shop' }]),
      securityContext: { allowPrivilegeEscalation: false, runAsNonRoot: true },
    })
    expect((await client.get(deployments, { namespace, name: 'shop-web' }))?.spec?.template.spec?.containers[0]?.image).toBe(
      image(1),
    )
    await setPodStatus(
      first,
      endedStatus(3, 'connecting\nrelation "orders" does not exist ghp_abcdefghijklmnopqrstuvwxyz0123456789'),
    )
    const failed = await ready(fixture, 'ReleaseJobFailed')
    const { message = '' } = findCondition(failed.status?.conditions, 'Ready') ?? {}
    expect(message).toContain('relation "orders" does not exist')
    expect(message).toContain(`kubectl logs -n ${namespace} job/shop-release-v2`)
    expect(message).toContain('the version before keeps serving')
    expect(message).not.toContain('ghp_')
    expect(failed.status).toMatchObject({ image: image(1), release: 1 })
    await untilReleases(fixture, [
      [1, 'First', 'RolledOut'],
      [2, 'NewImage', 'ReleaseJobFailed'],
    ])

    // Neither a look again nor the loss of its Job runs it a second time.
    await client.delete(jobs, { namespace, name: 'shop-release-v2' })
    await client.mergePatch(application, shop(fixture), { metadata: { annotations: { touched: 'yes' } } }, { fieldManager })
    await quiet(fixture)
    expect(await client.get(jobs, { namespace, name: 'shop-release-v2' })).toBeUndefined()

    await apply({
      processes: [web],
      image: image(2),
      releaseJob,
      restartedAt: '2026-01-01T00:00:00Z',
      env: [{ name: 'DATABASE', value: 'shop' }],
    })
    await setPodStatus(await jobPod(fixture, 3), endedStatus(0))
    await runPods(client, namespace, image(2), 1)
    const second = await ready(fixture, 'Available')
    expect(second.status).toMatchObject({ image: image(2), release: 3, phases: { release: 3, jobEndedAt: expect.any(String) } })
    await untilReleases(fixture, [
      [1, 'First', 'RolledOut'],
      [2, 'NewImage', 'ReleaseJobFailed'],
      [3, 'Retried', 'RolledOut'],
    ])
  })

  test('of a newer release waits for the one that runs; ending a Job by hand counts as a failure', async () => {
    const fixture = await start()
    const { apply, client, namespace } = fixture
    await apply({ processes: [idle], image: image(1), releaseJob })
    await jobPod(fixture, 1)
    await ready(fixture, 'ReleaseJobRunning')
    await apply({ processes: [idle], image: image(2), releaseJob })
    await waitUntil('release 2 waits', async () => {
      const condition = findCondition((await client.get(application, shop(fixture)))?.status?.conditions, 'Ready')
      return condition?.message.includes('waits until the release job of release 1 has ended') || undefined
    })
    expect((await client.list(jobs, { namespace })).map(({ metadata }) => metadata.name)).toEqual(['shop-release-v1'])
    expect(await client.get(deployments, { namespace, name: 'shop-worker' })).toBeUndefined()
    await client.delete(jobs, { namespace, name: 'shop-release-v1' })
    await jobPod(fixture, 2)
    await client.delete(jobs, { namespace, name: 'shop-release-v2' })
    const failed = await ready(fixture, 'ReleaseJobFailed')
    expect(JSON.stringify(failed.status?.conditions)).toContain('it was deleted before it ended')
    await untilReleases(fixture, [
      [1, 'First', 'Superseded'],
      [2, 'NewImage', 'ReleaseJobFailed'],
    ])
  })
})

describe('a release that does not become ready', () => {
  test('gives way to the one before it, until the image or the spec changes', async () => {
    const fixture = await start()
    const { apply, client, namespace } = fixture
    await apply({ processes: [web], image: image(1), commit: commit(1) })
    await runPods(client, namespace, image(1), 1)
    await ready(fixture, 'Available')
    await apply({ processes: [web], image: image(2), commit: commit(2) })
    const [pod] = await podsOf(client, namespace, image(2), 1)
    if (!pod) throw new Error('no pod')
    await setPodStatus(pod, crashing(pod))
    const back = await ready(fixture, 'RolledBack')
    expect(back.status).toMatchObject({ release: 1, image: image(1), rollback: { from: 2, to: 1 } })
    expect(JSON.stringify(back.status?.conditions)).toContain('exits with code 7')
    await waitUntil('the Deployment has the earlier image', async () => {
      const deployment = await client.get(deployments, { namespace, name: 'shop-web' })
      return deployment?.spec?.template.spec?.containers[0]?.image === image(1)
    })
    await untilReleases(fixture, [
      [1, 'First', 'RolledOut'],
      [2, 'NewCommit', 'Unhealthy'],
    ])
    await quiet(fixture)
    fixture.writes.length = 0
    await client.mergePatch(application, shop(fixture), { metadata: { annotations: { touched: 'yes' } } }, { fieldManager })
    await quiet(fixture)
    expect(fixture.writes).toEqual([])

    await apply({ processes: [web], image: image(3), commit: commit(3) })
    await runPods(client, namespace, image(3), 1)
    const third = await ready(fixture, 'Available')
    expect(third.status).toMatchObject({ release: 3, image: image(3), commit: commit(3) })
    expect(third.status?.rollback).toBeUndefined()
  })

  test('has nothing to go back to when it is the first one, and says so; Keep leaves it', async () => {
    const fixture = await start()
    const { apply, client, namespace } = fixture
    await apply({ processes: [web], image: image(1) })
    const [pod] = await podsOf(client, namespace, image(1), 1)
    if (!pod) throw new Error('no pod')
    await setPodStatus(pod, crashing(pod))
    await waitUntil('the message says it', async () => {
      const condition = findCondition((await client.get(application, shop(fixture)))?.status?.conditions, 'Ready')
      return condition?.message.includes('there is no earlier release to roll back to') || undefined
    })
    expect((await ready(fixture, 'Crashing')).status?.rollback).toBeUndefined()
  })
})

test('kubectl scale sets the pods of web, a restart replaces them, and neither makes a release', async () => {
  const fixture = await start()
  const { apply, client, namespace } = fixture
  await apply({ processes: [{ ...web, replicas: 0 }], image: image(1) })
  await ready(fixture, 'Available')
  const admin = await testAdmin()
  const path = `/apis/${application.apiVersion}/namespaces/${namespace}/applications/shop/scale`
  await admin.call('PATCH', path, { spec: { replicas: 2 } }, 'application/merge-patch+json')
  await runPods(client, namespace, image(1), 2)
  expect((await ready(fixture, 'Available')).status).toMatchObject({ release: 1, replicas: 2 })
  await client.mergePatch(application, shop(fixture), { spec: { restartedAt: '2026-01-02T03:04:05Z' } }, { fieldManager })
  await waitUntil('the template of the pods has the time', async () => {
    const deployment = await client.get(deployments, { namespace, name: 'shop-web' })
    const restarted = deployment?.spec?.template.metadata?.annotations?.['sekisho.dev/restarted-at']
    return restarted === '2026-01-02T03:04:05Z'
  })
  expect(summary(await releasesOf(fixture))).toEqual([[1, 'First', 'RolledOut']])
})

describe('a pinned release', () => {
  test('runs with the present scale until the pin is removed; an unknown number names those that exist', async () => {
    const fixture = await start()
    const { apply, client, namespace } = fixture
    await apply({ processes: [idle], image: image(1) })
    await ready(fixture, 'Available')
    await apply({ processes: [idle], image: image(2) })
    await ready(fixture, 'Available')
    await apply({ processes: [idle], image: image(3), pinnedRelease: 9 })
    const unknown = await ready(fixture, 'ReleaseNotFound')
    expect(JSON.stringify(unknown.status?.conditions)).toContain('there is no release 9: use one of 1, 2')

    await apply({ processes: [{ ...idle, replicas: 1 }], image: image(3), pinnedRelease: 1 })
    await runPods(client, namespace, image(1), 1)
    const pinned = await ready(fixture, 'Pinned')
    expect(pinned.status).toMatchObject({ release: 1, image: image(1) })
    expect(findCondition(pinned.status?.conditions, 'Ready')?.status).toBe('True')
    expect(summary(await releasesOf(fixture)).map(([number]) => number)).toEqual([1, 2])

    await apply({ processes: [idle], image: image(3) })
    expect((await ready(fixture, 'Available')).status).toMatchObject({ release: 3, image: image(3) })
  })
})

/** What brings Application `shop` to a reason of its condition Ready. */
type Phase = readonly [reason: string, reach: (fixture: Awaited<ReturnType<typeof start>>) => Promise<unknown>]

async function crash({ client, namespace }: Fixture, of: string): Promise<void> {
  const [pod] = await podsOf(client, namespace, of, 1)
  if (!pod) throw new Error('no pod')
  await setPodStatus(pod, crashing(pod))
}

const phases: readonly Phase[] = [
  ['WaitingForImage', ({ apply }) => apply({ processes: [web] })],
  ['ReleaseJobRunning', ({ apply }) => apply({ processes: [web], image: image(1), releaseJob })],
  ['RollingOut', ({ apply }) => apply({ processes: [web], image: image(1) })],
  [
    'Crashing',
    async fixture => {
      await fixture.apply({ processes: [web], image: image(1) })
      await crash(fixture, image(1))
    },
  ],
  [
    'RolledBack',
    async fixture => {
      await fixture.apply({ processes: [web], image: image(1) })
      await runPods(fixture.client, fixture.namespace, image(1), 1)
      await ready(fixture, 'Available')
      await fixture.apply({ processes: [web], image: image(2) })
      await crash(fixture, image(2))
    },
  ],
  ['Suspended', ({ apply }) => apply({ processes: [web], image: image(1), suspend: true })],
]

test.each(phases)('deleted in %s, an Application ends, and nothing of it stays', async (reason, reach) => {
  const fixture = await start()
  const { client, namespace } = fixture
  await reach(fixture)
  await ready(fixture, reason)
  await client.delete(application, shop(fixture))
  const left = async (): Promise<readonly string[]> => {
    const kinds: readonly ResourceType<KubeObject>[] = [application, release, deployments, services, ingresses, jobs, pods]
    const lists = await Promise.all(kinds.map(kind => client.list(kind, { namespace })))
    return lists.flatMap((list, at) => list.map(({ metadata }) => `${kinds[at]?.kind} ${metadata.name}`))
  }
  await waitUntil('nothing is left', async () => {
    const names = await left()
    if (names.length === 0) return true
    throw new Error(names.join(', '))
  })
})
