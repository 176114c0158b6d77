// The demo must work with a real GitHub: it may use pages, git and REST routes that GitHub describes, and nothing that only the
// emulator has.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { restRoutes } from '../rest/routes.ts'
import { openDescription } from './description.ts'

/** git and the validation are slow on a busy machine. */
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const folder = join(import.meta.dirname, '../../demo')
const sources = readdirSync(folder, { recursive: true, withFileTypes: true })
  .filter(entry => entry.isFile() && entry.name.endsWith('.ts'))
  .map(entry => ({ name: entry.name, text: readFileSync(join(entry.parentPath, entry.name), 'utf8') }))

test('it does not use the control API and imports nothing of the emulator', () => {
  expect(sources.length).toBeGreaterThan(8)
  for (const { name, text } of sources) {
    expect(text, name).not.toMatch(/_emulator|control-token|controlToken/)
    expect(text, name).not.toMatch(/from '(?:\.\.\/)+github\//)
  }
})

test('github.com describes each of its REST paths', () => {
  const describedBy = openDescription('api.github.com')
  const paths = sources.flatMap(({ text }) => [...text.matchAll(/status\('(\/[^']+)'(?: \+ [\w.]+)?(?:, \{ method: '(\w+)')?/g)])
  const called = paths.map(([, path = '', method = 'GET']) => `${method} ${path.replace(/\/$/, '/x')}`)
  expect(called.length).toBe(5)
  for (const one of called) {
    const [method, path = ''] = one.split(' ')
    const route = restRoutes.find(
      candidate => candidate.method === method && new RegExp(`^${candidate.path.replace(/\{\w+\}/g, '[^/]+')}$`).test(path),
    )
    expect(route && describedBy(route)?.operationId, one).toBeDefined()
  }
})
