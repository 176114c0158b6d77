// Running a bench: the order of the runs, the budget, and closing it in every case.
import { expect, test } from 'vitest'
import type { Bench, Comparison, OpenBench, Run } from './bench.ts'
import { oursAtLeast } from './goals.ts'
import { runBench } from './run-bench.ts'
import { figureNames } from './summarize.ts'

const options = { pairs: 5, scale: 1, long: false, note: () => {}, signal: new AbortController().signal }
const run: Run = { operations: 100, wallSeconds: 1 }

type Log = string[]

function comparison(log: Log, sides: Partial<Comparison> = {}): Comparison {
  const side = (name: string) => async (): Promise<Run> => {
    log.push(name)
    return run
  }
  const goals = [oursAtLeast(figureNames.rate, 100)]
  return { name: 'c', title: '', unit: 'things', peerName: 'p', ours: side('ours'), peer: side('peer'), goals, ...sides }
}

function bench(log: Log, open: Omit<OpenBench, 'close'>, budgetSeconds = 60): Bench {
  const close = async (): Promise<void> => {
    log.push('close')
  }
  return { name: 'b', title: 't', budgetSeconds, open: async () => ({ ...open, close }) }
}

const never = (): Promise<never> => new Promise(() => {})

test('runs alternate, and every run of ours is between two of the peer', async () => {
  const log: Log = []
  const report = await runBench(bench(log, { comparisons: [comparison(log)] }), options)
  expect(log).toEqual(['peer', ...Array.from({ length: 5 }, () => ['ours', 'peer']).flat(), 'close'])
  expect(report.comparisons[0]).toMatchObject({ control: { median: 1 }, goals: [{ met: true }] })
  expect(report.comparisons[0]?.void).toBeUndefined()
})

test('a round that would not fit is not started, and too few rounds are void', async () => {
  const log: Log = []
  const slow = async (): Promise<Run> => {
    const until = performance.now() + 250
    while (performance.now() < until) await new Promise(resolve => setImmediate(resolve))
    return run
  }
  const report = await runBench(bench(log, { comparisons: [comparison(log, { ours: slow })] }, 0.9), options)
  expect(report.comparisons[0]?.rounds.length).toBeLessThan(5)
  expect(report.comparisons[0]?.void).toMatch(/fewer than 5/)
})

test('a run that hangs ends with the budget, and the bench is closed', async () => {
  const log: Log = []
  const hanging = bench(log, { comparisons: [comparison(log, { ours: never })] }, 0.05)
  await expect(runBench(hanging, options)).rejects.toThrow('longer than its 0.05 s')
  expect(log).toEqual(['peer', 'close'])
})

test('an interruption or a failed run closes the bench', async () => {
  const log: Log = []
  const interrupted = AbortSignal.abort(new Error('ended by SIGINT'))
  const idle = bench(log, { comparisons: [comparison(log)] })
  await expect(runBench(idle, { ...options, signal: interrupted })).rejects.toThrow('ended by SIGINT')
  const broken = bench(log, { comparisons: [comparison(log, { ours: () => Promise.reject(new Error('broken')) })] })
  await expect(runBench(broken, options)).rejects.toThrow('broken')
  expect(log.filter(line => line === 'close')).toHaveLength(2)
})

test('measurements are evaluated, and scaled sizes make them void', async () => {
  const log: Log = []
  const measurement = {
    name: 'm',
    title: '',
    run: async () => [{ label: 'writes', value: 0, unit: '' }],
    goals: [{ text: 'none', evaluate: () => ({ met: true, value: '0' }) }],
  }
  const scaled = await runBench(bench(log, { comparisons: [], measurements: [measurement] }), { ...options, scale: 0.1 })
  expect(scaled.measurements[0]).toMatchObject({
    goals: [{ text: 'none', met: true, value: '0' }],
    void: expect.stringContaining('0.1'),
  })
})
