// One image on several Applications: which gets it when, and what the RemoteSync says of them together.
import { describe, expect, test } from 'vitest'
import type { Application } from '../../../api/apps/application.ts'
import type { RemoteSync } from '../../../api/apps/remote-sync.ts'
import type { Applied } from '../../../kube/client/client.ts'
import { KubeError } from '../../../kube/client/errors.ts'
import type { Halt } from '../halt.ts'
import { withRestored } from '../rebase/decide-restore.ts'
import type { RemoteSyncStatus } from '../status.ts'
import { commit, condition, facts, now, application as one, sync } from '../testing/remote-sync.ts'
import { awaitsJob } from './decide-deploy.ts'
import { deployImage } from './deploy-image.ts'

const image = 'image@1'
const releaseJob = { command: ['migrate'], timeoutSeconds: 60 }
const ready = (status: 'True' | 'False' = 'True', reason = 'Available') => [condition('Ready', status, reason, 'says why')]

function application(name: string, spec: Partial<Application['spec']> = {}, status: Application['status'] = {}): Application {
  const { metadata, ...rest } = one(spec, status)
  return { ...rest, metadata: { ...metadata, name, uid: `uid-${name}` } }
}

const has = { image, commit }
const runs = (name: string, availableAt = '2026-01-01T11:00:00.000Z') =>
  application(name, has, { image, availableAt, conditions: ready() })

type World = {
  readonly first: Application | undefined
  readonly others: Readonly<Record<string, Application | undefined>>
  readonly status?: RemoteSyncStatus
  /** The Application that the API server refuses. */
  readonly refused?: string
}

async function deploy({ first, others, status = {}, refused }: World) {
  const names = Object.keys(others)
  const remoteSync: RemoteSync = sync({ application: 'api', otherApplications: names })
  const written: string[] = []
  const client = {
    async apply(_type: unknown, { metadata: { name }, spec }: Applied & { metadata: { name: string }; spec: object }) {
      if (name === refused) throw new KubeError('no', { status: 422, reason: 'Invalid' })
      written.push(name)
      return application(name, { ...(name === 'api' ? first : others[name])?.spec, ...spec })
    },
  }
  const run = {
    deps: { client, clock: { now: () => now } } as unknown as Parameters<typeof deployImage>[0]['deps'],
    facts: facts({ remoteSync, application: first, others: names.map(name => ({ name, application: others[name] })) }),
  }
  const state = { remoteSync, status: { ...status, image } }
  const outcome = await deployImage(run, { state, image, commit, isPromoted: false }).catch((error: unknown) => error)
  if (outcome instanceof Error) return { written, error: outcome, halted: undefined, status: undefined }
  const { halted, state: after } = outcome as { halted?: Halt; state: { status: RemoteSyncStatus } }
  return { written, halted, status: after.status, error: undefined }
}

describe('an image of several Applications', () => {
  test('is set on each that has another one, at once where the first has no release job', async () => {
    const old = { image: 'image@0', commit }
    const all = { first: application('api'), others: { worker: application('worker', old), mailer: runs('mailer') } }
    const { written, halted, status } = await deploy(all)
    expect(written).toEqual(['api', 'worker'])
    expect(halted).toMatchObject({ stage: 'Ready', reason: 'RollingOut' })
    expect(halted?.message).toBe('Application api is rolling out; also not ready: worker (RollingOut)')
    expect(status).toMatchObject({ applications: ['api', 'worker', 'mailer'], phases: { deployedAt: now.toISOString() } })
  })

  test('is available when the last of them is', async () => {
    const late = '2026-01-01T11:30:00.000Z'
    const { halted, status, written } = await deploy({ first: runs('api'), others: { worker: runs('worker', late) } })
    expect([halted, written, status?.phases?.availableAt]).toEqual([undefined, [], late])
  })

  test('waits for the release job of the first, and the others are held meanwhile', async () => {
    const first = application('api', { releaseJob }, { image: 'image@0', conditions: ready('False', 'ReleaseJobRunning') })
    const others = { worker: application('worker', { image: 'image@0' }), mailer: application('mailer') }
    const { written, halted, status } = await deploy({ first, others, status: { applications: ['api', 'worker'] } })
    expect(written).toEqual(['api'])
    expect(halted).toMatchObject({ stage: 'Deployed', reason: 'RollingOut' })
    expect(halted?.message).toBe('Application api is rolling out; worker, mailer get the image after the release job of api')
    expect(status?.applications).toEqual(['api', 'worker'])
    expect(status?.phases?.deployedAt).toBeUndefined()
  })

  test('is not set on the others when the release job fails; the message names it before its log', async () => {
    const failed = [condition('Ready', 'False', 'ReleaseJobFailed', 'exit code 1\nlog')]
    const first = application('api', { ...has, releaseJob }, { image: 'image@0', conditions: failed })
    const { written, halted } = await deploy({ first, others: { worker: application('worker') } })
    expect([written, halted?.stage, halted?.reason]).toEqual([[], 'Deployed', 'ApplicationNotReady'])
    expect(halted?.message).toBe(
      'Application api: ReleaseJobFailed: exit code 1; worker gets the image after the release job of api\nlog',
    )
  })

  test('is set on the others when one does not exist or follows a tag, and that is said', async () => {
    const others = {
      gone: undefined,
      tagged: application('tagged', { image: 'ghcr.io/a:1', followTag: true }),
      worker: application('worker'),
    }
    const { written, halted, status } = await deploy({ first: runs('api'), others })
    expect(written).toEqual(['worker'])
    expect(halted).toMatchObject({ stage: 'Deployed', reason: 'ApplicationNotFound' })
    expect(halted?.message).toBe(
      'spec.otherApplications: there is no Application gone in this namespace: create it (a RemoteSync does not); also not ready: tagged (ApplicationFollowsTag), worker (RollingOut)',
    )
    expect(status?.applications).toEqual(['api', 'worker'])
  })

  test('is set on no other without the first', async () => {
    const { written, halted } = await deploy({ first: undefined, others: { worker: application('worker') } })
    expect([written, halted?.reason]).toEqual([[], 'ApplicationNotFound'])
    expect(halted?.message).toMatch(/^spec\.application: /)
  })

  test('is set on those behind one that the API server refuses', async () => {
    const others = { bad: application('bad'), worker: application('worker') }
    const { written, error } = await deploy({ first: runs('api'), others, refused: 'bad' })
    expect(written).toEqual(['worker'])
    expect(error).toBeInstanceOf(KubeError)
  })

  test('what is wrong goes before what goes on, and that before what is pinned', async () => {
    const pinned = application('pinned', { ...has, pinnedRelease: 1 }, { image: 'image@0', conditions: ready() })
    const rolling = application('rolling', has)
    const broken = application('broken', has, { image, conditions: ready('False', 'Crashing') })
    const said = async (others: World['others']) => (await deploy({ first: runs('api'), others })).halted?.reason
    expect(await said({ pinned })).toBe('Pinned')
    expect(await said({ pinned, rolling })).toBe('RollingOut')
    expect(await said({ pinned, rolling, broken })).toBe('ApplicationNotReady')
  })
})

describe('the release job that goes before the image', () => {
  const succeeded = { release: 2, name: 'x', state: 'Succeeded', startedAt: now.toISOString() } as const
  const after = { latestRelease: 2, releasedGeneration: 1, releaseJob: succeeded }
  const of = (status: Application['status'], spec = {}) =>
    awaitsJob(application('api', { ...has, releaseJob, ...spec }, status), image)

  test.each<[string, Application['status'], boolean]>([
    ['runs', { ...after, releaseJob: { ...succeeded, state: 'Running' } }, true],
    ['failed', { ...after, releaseJob: { ...succeeded, state: 'Failed' } }, true],
    ['is that of the release before', { ...after, releaseJob: { ...succeeded, release: 1 } }, true],
    // Such as an Application that is pinned, or whose chart renders nothing.
    ['succeeded for a release that is not of the spec as it is', { ...after, releasedGeneration: 0 }, true],
    ['never ran', {}, true],
    ['succeeded', after, false],
    ['is of an image that runs', { image }, false],
  ])('%s', (_what, status, awaits) => {
    expect(of(status)).toBe(awaits)
  })

  test('does not exist', () => {
    expect(awaitsJob(application('api', has), image)).toBe(false)
  })
})

test('a rebased image is given up on all when one of them does not run on it', () => {
  const rebase = { build: 'b', runImage: 'new', image, former: { image: 'image@0', runImage: 'old' } }
  const back = application('worker', has, { image: 'image@0', conditions: ready('False', 'RolledBack') })
  const status: RemoteSyncStatus = { image, imageCommit: commit, runImage: 'new', rebase }
  expect(withRestored([runs('api'), back], status)).toMatchObject({ image: 'image@0', runImage: 'old' })
  expect(withRestored([runs('api'), runs('worker')], status)).toBeUndefined()
})
