// The demo must run against a real GitHub: it opens pages, runs git and calls REST routes that GitHub describes, and nothing of the
// emulator's own.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { createRateLimiter } from '../rest/protocol/rate-limit.ts'
import { restRoutes } from '../rest/routes.ts'
import { openDescription } from './description.ts'

/** git and the validation take their time on a busy machine. */
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const folder = join(import.meta.dirname, '../../demo')
const sources = readdirSync(folder, { recursive: true, withFileTypes: true })
  .filter(entry => entry.isFile() && entry.name.endsWith('.ts'))
  .map(entry => ({ name: entry.name, text: readFileSync(join(entry.parentPath, entry.name), 'utf8') }))

test('it knows nothing of the control surface and imports nothing of the emulator', () => {
  expect(sources.length).toBeGreaterThan(8)
  for (const { name, text } of sources) {
    expect(text, name).not.toMatch(/_emulator|control-token|controlToken/)
    expect(text, name).not.toMatch(/from '[^']*\/github\/(?!index\.ts)/)
  }
})

test('each REST path in it is one that github.com describes', () => {
  const describedBy = openDescription('api.github.com')
  const routes = restRoutes({ limiter: createRateLimiter({ authenticated: 1, anonymous: 1 }, Date.now) })
  const paths = sources.flatMap(({ text }) => [...text.matchAll(/status\('(\/[^']+)'(?: \+ [\w.]+)?(?:, \{ method: '(\w+)')?/g)])
  const called = paths.map(([, path = '', method = 'GET']) => `${method} ${path.replace(/\/$/, '/x')}`)
  expect(called.length).toBe(3)
  for (const one of called) {
    const [method, path = ''] = one.split(' ')
    const route = routes.find(
      candidate => candidate.method === method && new RegExp(`^${candidate.path.replace(/\{\w+\}/g, '[^/]+')}$`).test(path),
    )
    expect(route && describedBy(route)?.operationId, one).toBeDefined()
  }
})
