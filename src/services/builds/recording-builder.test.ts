// What a build pushes is recorded before the build is deleted, and never keeps it.
import { expect, test } from 'vitest'
import { silentLog } from '../../lib/testing/silent-log.ts'
import { noBuilder } from './no-builder.ts'
import { recordingBuilder } from './recording-builder.ts'

const key = { namespace: 'acme-build', name: 'shop-1' }

test.each([
  ['is recorded before it is deleted', undefined, ['record shop-1', 'delete shop-1']],
  ['is deleted also when it cannot be recorded', new Error('the database is away'), ['delete shop-1']],
])('a build %s', async (_what, error, expected) => {
  const done: string[] = []
  const builder = { ...noBuilder('none'), cancel: async () => void done.push('delete shop-1') }
  const record = async (): Promise<void> => {
    if (error) throw error
    done.push('record shop-1')
  }
  await recordingBuilder(builder, record, silentLog).cancel(key)
  expect(done).toEqual(expected)
})
