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
  const health = await createHealthServer({
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
})
