import { expect, test } from 'vitest'
import type { Clock } from '../../lib/clock.ts'
import { createRecordingLog } from '../testing/recording-log.ts'
import { KubeError } from './errors.ts'
import { untilAnswered } from './until-answered.ts'

const away = (message = 'connect ECONNREFUSED') => new KubeError(message, { status: 0, reason: 'Unreachable' })

/** Answers with these, one after the other; errors are thrown. */
function asking(...answers: readonly (string | Error)[]) {
  const left = [...answers]
  const slept: number[] = []
  const log = createRecordingLog()
  const clock = { sleep: async (milliseconds: number) => void slept.push(milliseconds) } as unknown as Clock
  const ask = async (): Promise<string> => {
    const next = left.shift() ?? 'asked too often'
    if (next instanceof Error) throw next
    return next
  }
  return { answer: untilAnswered(ask, { clock, log }), slept, log, left }
}

test('an API server that is away is asked again until it answers, and the log says so once', async () => {
  const { answer, slept, log } = asking(away(), away(), new KubeError('starting', { status: 503, reason: 'x' }), 'installed')
  expect(await answer).toBe('installed')
  expect(slept).toEqual([3000, 3000, 3000])
  expect(log.lines.map(({ error }) => error)).toEqual(['connect ECONNREFUSED', 'starting'])
})

test('a refusal ends the process at once: nothing will pass by itself', async () => {
  const { answer, slept } = asking(new KubeError('forbidden', { status: 403, reason: 'Forbidden' }), 'installed')
  await expect(answer).rejects.toThrow('forbidden')
  expect(slept).toEqual([])
})
