import { expect, test } from 'vitest'
import type { Pod } from '../../../api/builtin/index.ts'
import { wasStopped } from './pod-status.ts'

const pod = (finishedAt: string | undefined, deleted: object): Pod =>
  ({
    metadata: { name: 'b', ...deleted },
    status: {
      phase: 'Failed',
      initContainerStatuses: [{ name: 'prepare', state: { terminated: { exitCode: 0, finishedAt: '2026-01-01T00:00:01Z' } } }],
      containerStatuses: [
        { name: 'build', state: finishedAt === undefined ? {} : { terminated: { exitCode: 143, finishedAt } } },
        { name: 'export', state: {} },
      ],
    },
  }) as unknown as Pod

const deletedAtTen = { deletionTimestamp: '2026-01-01T00:00:40Z', deletionGracePeriodSeconds: 30 }

test('a build whose containers ended after it was deleted was stopped; one that had failed before failed', () => {
  expect(wasStopped(pod('2026-01-01T00:00:11Z', deletedAtTen))).toBe(true)
  expect(wasStopped(pod('2026-01-01T00:00:10Z', deletedAtTen))).toBe(true)
  expect(wasStopped(pod('2026-01-01T00:00:09Z', deletedAtTen))).toBe(false)
  expect(wasStopped(pod('2026-01-01T00:00:11Z', {}))).toBe(false)
  expect(wasStopped(pod(undefined, deletedAtTen))).toBe(false)
})
