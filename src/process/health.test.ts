import { expect, onTestFinished, test } from 'vitest'
import { silentLog } from '../lib/testing/silent-log.ts'
import { createHealthServer } from './health.ts'
import { prometheusRegistry } from './metrics.ts'

test('readiness names the checks that fail, and a check that throws fails', async () => {
  let synced = false
  const checks = {
    caches: () => synced,
    store: () => {
      if (!synced) throw new Error('unavailable')
      return true
    },
    clock: async () => true,
  }
  const address = { host: '127.0.0.1', port: 0 }
  const health = createHealthServer({
    log: silentLog,
    checks: () => checks,
    metrics: prometheusRegistry({ process: 'test' }),
    address,
  })
  onTestFinished(health.stop)
  const url = `http://127.0.0.1:${await health.start()}`
  expect((await fetch(`${url}/livez`)).status).toBe(200)
  const refused = await fetch(`${url}/readyz`)
  expect([refused.status, await refused.text()]).toEqual([503, 'not ready: caches, store\n'])
  synced = true
  expect((await fetch(`${url}/readyz`)).status).toBe(200)
  expect(await (await fetch(`${url}/metrics`)).text()).toContain('process_cpu_seconds_total{process="test"}')
  // Nothing else is answered, and no body is read.
  expect((await fetch(`${url}/`)).status).toBe(404)
  expect((await fetch(`${url}/livez`, { method: 'POST', body: 'x' })).status).toBe(404)
  expect(await (await fetch(`${url}/livez`, { method: 'HEAD' })).text()).toBe('')
})

test('metrics that cannot be read are an error, and the port goes on; nobody asks without end', async () => {
  const metrics = prometheusRegistry({ process: 'test' })
  metrics.metrics = async () => {
    throw new Error('a collector failed')
  }
  const address = { host: '127.0.0.1', port: 0 }
  const health = createHealthServer({ log: silentLog, checks: () => ({}), metrics, address })
  onTestFinished(health.stop)
  const url = `http://127.0.0.1:${await health.start()}`
  expect([(await fetch(`${url}/metrics`)).status, (await fetch(`${url}/readyz`)).status]).toEqual([500, 200])
  const statuses = new Set<number>()
  const hundred = Array.from({ length: 100 })
  for (let round = 0; round < 20 && !statuses.has(429); round++)
    await Promise.all(hundred.map(async () => statuses.add((await fetch(`${url}/livez`)).status)))
  expect(statuses).toEqual(new Set([200, 429]))
  for (const _ of ['once', 'again']) await health.stop()
})
