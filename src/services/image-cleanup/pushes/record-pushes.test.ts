// What builds push is recorded once, and again by the next leader; a failure loses nothing.
import { afterEach, expect, test } from 'vitest'
import type { Periodic } from '../../../lib/periodic.ts'
import { createFakeClock, settle } from '../../../lib/testing/fake-clock.ts'
import { silentLog } from '../../../lib/testing/silent-log.ts'
import type { PushedImage } from '../../../store/builds/image-records.ts'
import type { PushingBuild } from './pushed-images.ts'
import { createRecordingOfPushes } from './record-pushes.ts'

let running: Periodic | undefined
afterEach(() => running?.stop())

const build = (id: string): PushingBuild => {
  const repository = 'r.example.com/apps/acme/shop'
  return {
    id,
    key: { namespace: 'acme-build', name: id },
    owner: { namespace: 'acme', name: 'shop', uid: 'uid' },
    pushes: { image: `${repository}:${id}`, cache: `${repository}:cache-uid` },
  }
}

function start() {
  const clock = createFakeClock()
  const state = { builds: [] as PushingBuild[], leads: true, fails: false }
  const recorded: string[] = []
  const recording = createRecordingOfPushes({
    images: {
      async record(images: readonly PushedImage[], lookAt) {
        if (state.fails) throw new Error('the database is away')
        for (const { tag } of images) recorded.push(`${tag} ${lookAt.toISOString().slice(0, 10)}`)
      },
    },
    builds: () => state.builds,
    isOfPreview: () => false,
    registry: 'r.example.com/apps',
    periodMilliseconds: 86_400_000,
    isLeader: () => state.leads,
    clock,
    log: silentLog,
  })
  running = recording
  recording.start()
  const next = async (): Promise<void> => {
    await clock.advance(2000)
    await settle()
  }
  return { state, recorded, next, recordNow: recording.recordNow }
}

test('a build that is about to be deleted, before the next round; another one stays for that', async () => {
  const { state, recorded, next, recordNow } = start()
  await next()
  state.builds = [build('shop-1'), build('shop-2')]
  await recordNow({ namespace: 'acme-build', name: 'shop-1' })
  expect(recorded).toEqual(['shop-1 2026-01-02', 'cache-uid 2026-01-02'])
  await next()
  expect(recorded.filter(tag => tag.startsWith('shop'))).toEqual(['shop-1 2026-01-02', 'shop-2 2026-01-02'])
  state.fails = true
  state.builds = [build('shop-3')]
  await expect(recordNow({ namespace: 'acme-build', name: 'shop-3' })).rejects.toThrow('the database is away')
})

test('each build once, with its cache', async () => {
  const { state, recorded, next } = start()
  state.builds = [build('shop-1')]
  await next()
  await next()
  expect(recorded).toEqual(['shop-1 2026-01-02', 'cache-uid 2026-01-02'])
  state.builds = [build('shop-1'), build('shop-2')]
  await next()
  expect(recorded.slice(2)).toEqual(['shop-2 2026-01-02', 'cache-uid 2026-01-02'])
})

test('not by a replica that does not lead, and after a failure in the next round', async () => {
  const { state, recorded, next } = start()
  state.builds = [build('shop-1')]
  state.leads = false
  await next()
  expect(recorded).toEqual([])
  state.leads = true
  state.fails = true
  await next()
  expect(recorded).toEqual([])
  state.fails = false
  await next()
  expect(recorded).toHaveLength(2)
})
