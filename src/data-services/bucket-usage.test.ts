import { expect, test } from 'vitest'
import { systemClock } from '../lib/clock.ts'
import type { Store } from './adapters/s3/store.ts'
import { createBucketUsage, measureMilliseconds } from './bucket-usage.ts'
import type { OpenStore } from './providers/provider.ts'
import type { Servers } from './servers.ts'

/** A store that has one object of seven bytes in each bucket. */
function measuring() {
  const time = { now: 0 }
  const asked: string[] = []
  const send = async ({ input }: { readonly input: { readonly Bucket: string } }): Promise<object> => {
    asked.push(input.Bucket)
    return { Versions: [{ Key: 'a', VersionId: '1', Size: 7, IsLatest: true }] }
  }
  const store = { asAdministrator: (work: (session: unknown) => unknown) => work({ s3: { send } }) } as unknown as Store
  const of = (() => ({ type: 'bucket', store }) as OpenStore) as Servers['of']
  const usage = createBucketUsage({ servers: { of }, clock: { ...systemClock, monotonic: () => time.now } })
  return { time, asked, measure: (uid: string) => usage({ serviceClass: 'c', uid, name: `bucket-${uid}` }) }
}

test('a bucket is measured once in five minutes, whoever asks; another one is measured meanwhile', async () => {
  const { time, asked, measure } = measuring()
  expect(await measure('u')).toEqual({ bytes: 7, objects: 1, complete: true })
  time.now = measureMilliseconds - 1
  expect(await measure('u')).toBeUndefined()
  expect(await measure('v')).toBeDefined()
  time.now = measureMilliseconds
  expect(await measure('u')).toBeDefined()
  expect(asked).toEqual(['bucket-u', 'bucket-v', 'bucket-u'])
})
