// The renderer with real worker threads: whatever a chart does wrong is an outcome and never affects the next rendering.
import { once } from 'node:events'
import type { Worker } from 'node:worker_threads'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { waitUntil } from '../../lib/waiting/wait-until.ts'
import type { ChartInput, ChartSource } from './chart-input.ts'
import { type ChartRenderer, createChartRenderer } from './renderer.ts'

const input: ChartInput = {
  name: 'shop',
  namespace: 'acme',
  image: 'registry.example.com/acme/shop@sha256:1111111111111111111111111111111111111111111111111111111111111111',
  commit: 'a'.repeat(40),
  processes: [{ name: 'web', port: 3000, replicas: 1, cpu: '50m', memory: '64Mi' }],
  env: [{ name: 'PORT', value: '1' }],
  attributes: {},
  hosts: ['shop.acme.localhost'],
  ingressClassName: 'traefik',
  tls: false,
}

function moduleChart(code: string): ChartSource {
  return { kind: 'module', code, revision: 'test' }
}

const web: ChartSource = { kind: 'built-in', name: 'web', revision: 'test' }

describe('chart renderer', () => {
  let renderer: ChartRenderer
  beforeAll(() => {
    renderer = createChartRenderer({ processes: 1, heapMegabytes: 96, maxAnswer: 20_000 })
  })
  afterAll(() => renderer.stop())

  test('renders the built-in chart, and the same input gives the same objects', async () => {
    const first = await renderer.render(web, input, 5000)
    const second = await renderer.render(web, input, 5000)
    expect(first).toMatchObject({ kind: 'rendered' })
    expect(second).toEqual(first)
  })

  test('a module receives the input and cdk8s, and its objects are returned', async () => {
    const code = `export function chart(input, { cdk8s }) { return [{ kind: 'ConfigMap', name: input.name, app: typeof cdk8s.App }] }`
    const objects = [{ kind: 'ConfigMap', name: 'shop', app: 'function' }]
    expect(await renderer.render(moduleChart(code), input, 5000)).toEqual({
      kind: 'rendered',
      objects,
      length: JSON.stringify(objects).length,
    })
  })

  test('a chart that throws fails with the first line of the message', async () => {
    const outcome = await renderer.render(
      moduleChart(`export function chart() { throw new Error('no such size\\nat x') }`),
      input,
      5000,
    )
    expect(outcome).toEqual({ kind: 'failed', message: 'no such size' })
  })

  test('a chart that does not return is terminated at the timeout, and the next rendering works', async () => {
    const outcome = await renderer.render(moduleChart('export function chart() { for (;;); }'), input, 300)
    expect(outcome).toEqual({ kind: 'timed-out', message: 'the chart did not return within 0.3 s' })
    expect(await renderer.render(web, input, 5000)).toMatchObject({ kind: 'rendered' })
  })

  test('a module body that does not end is terminated, too', async () => {
    expect(await renderer.check(moduleChart('for (;;); export function chart() {}'), 300)).toMatchObject({ kind: 'timed-out' })
  })

  test('a chart that uses too much memory fails alone', async () => {
    const code = 'export function chart() { const kept = []; for (;;) kept.push(new Array(100000).fill(Math.random())) }'
    const outcome = await renderer.render(moduleChart(code), input, 20_000)
    expect(outcome).toEqual({ kind: 'failed', message: 'the chart used more than 96 MB of memory' })
  })

  test('a chart that ends its thread fails', async () => {
    expect(await renderer.render(moduleChart('export function chart() { process.exit(0) }'), input, 5000)).toMatchObject({
      kind: 'failed',
    })
  })

  test('too much output is refused', async () => {
    const outcome = await renderer.render(moduleChart(`export function chart() { return ['x'.repeat(30000)] }`), input, 5000)
    expect(outcome).toEqual({ kind: 'failed', message: 'chart rendered more than 20000 characters of JSON' })
  })

  test('a chart sees no environment variables', async () => {
    const outcome = await renderer.render(moduleChart('export function chart() { return Object.keys(process.env) }'), input, 5000)
    expect(outcome).toEqual({ kind: 'rendered', objects: [], length: 2 })
  })

  test('check finds a module that does not parse or does not export chart', async () => {
    expect(await renderer.check(moduleChart('export function ('), 5000)).toMatchObject({ kind: 'failed' })
    expect(await renderer.check(moduleChart('export const other = 1'), 5000)).toEqual({
      kind: 'failed',
      message: 'the module must export a function named chart',
    })
    expect(await renderer.check(web, 5000)).toEqual({ kind: 'rendered', objects: [], length: 2 })
  })
})

/** The threads that this process starts during the test. */
function countThreads(): { alive: number; started: number } {
  const threads = { alive: 0, started: 0 }
  const count = (worker: Worker): void => {
    threads.alive += 1
    threads.started += 1
    worker.once('exit', () => {
      threads.alive -= 1
    })
  }
  process.on('worker', count)
  onTestFinished(() => void process.off('worker', count))
  return threads
}

test('all tenants share one thread, which stays while it is warmed up, ends when it is not used, and starts again when it is needed', async () => {
  const threads = countThreads()
  const renderer = createChartRenderer({ idleMilliseconds: 300 })
  onTestFinished(() => renderer.stop())
  const atOnce = () => Promise.all(['anna', 'bert', 'carl'].map(namespace => renderer.render(web, { ...input, namespace }, 5000)))
  const rendered = [0, 1, 2].map(() => expect.objectContaining({ kind: 'rendered' }))
  expect(await atOnce()).toEqual(rendered)
  expect(threads.started).toBe(1)
  // For longer than it is kept unused.
  let warmed = 0
  const keepWarm = setInterval(() => {
    renderer.warmUp()
    warmed += 1
  }, 50)
  await waitUntil('twenty renderings', seen => seen(warmed) === 20)
  clearInterval(keepWarm)
  expect(threads).toEqual({ alive: 1, started: 1 })
  await waitUntil('the end of the idle thread', seen => seen(threads.alive) === 0)
  expect(await atOnce()).toEqual(rendered)
  expect(threads.started).toBe(2)
})

test('the thread ends a minute after its last use, not a minute after that was looked at', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const threads = countThreads()
  const renderer = createChartRenderer()
  onTestFinished(() => renderer.stop())
  const started = once(process, 'worker')
  renderer.warmUp()
  await started
  vi.advanceTimersByTime(50_000)
  renderer.warmUp()
  vi.advanceTimersByTime(59_999)
  expect(threads).toEqual({ alive: 1, started: 1 })
  vi.advanceTimersByTime(1)
  vi.useRealTimers()
  await waitUntil('the end of the idle thread', seen => seen(threads.alive) === 0)
})

test('the thread is not ended while it renders, however long that takes', async () => {
  const renderer = createChartRenderer({ idleMilliseconds: 1 })
  onTestFinished(() => renderer.stop())
  renderer.warmUp()
  expect(await renderer.render(web, input, 30_000)).toMatchObject({ kind: 'rendered' })
})
