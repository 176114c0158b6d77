// The verdict on a pod that takes what all pods share: by what another pod still gets, and by the bound where there is one.
import { expect, test } from 'vitest'
import { judgeTaken } from './node-limits.ts'
import { parseLines } from './node-limits-lines.ts'

const took = (what: string, taken: number, refused: string) => ({ kind: 'take', what, taken, refused }) as const
const served = { kind: 'use', failed: {} } as const

test('lines of both pods are read, also while the last one is being written', () => {
  const text =
    '{"what": "pty", "taken": 64, "refused": "ENOSPC"}\n{"held": true, "at": 1}\n{"failed": {"aio": "x"}, "at": 1}\nTrace\n{"fai'
  expect(parseLines(text)).toEqual([took('pty', 64, 'ENOSPC'), { kind: 'held' }, { kind: 'use', failed: { aio: 'x' } }])
})

test('it is stopped when the other pod is served each time and the bound held', () => {
  const played = { taken: [took('pty', 64, 'ENOSPC')], during: [served, served] }
  expect(judgeTaken(played, 'pty', 64)).toMatchObject({ outcome: 'stopped', by: 'bound' })
})

test('it is unclear when one of them said nothing', () => {
  expect(judgeTaken({ taken: [], during: [served] }, 'pty', 64).outcome).toBe('unclear')
  expect(judgeTaken({ taken: [took('pty', 64, 'ENOSPC')], during: [] }, 'pty', 64).outcome).toBe('unclear')
})

test('it succeeded when the other pod got none once, or when the pod took more than its bound', () => {
  const failed = { kind: 'use', failed: { pty: '[Errno 28] No space left on device' } } as const
  const first = judgeTaken({ taken: [took('pty', 3071, 'ENOSPC')], during: [served, failed] }, 'pty', 64)
  expect(first).toMatchObject({ outcome: 'succeeded', evidence: expect.stringContaining('Errno 28') })
  const second = judgeTaken({ taken: [took('processes', 4500, 'none')], during: [served] }, 'processes', 4096)
  expect(second).toMatchObject({ outcome: 'succeeded', evidence: expect.stringContaining('the bound is 4096') })
})
