// The script as a file: it parses, its address and integrity are those of its content, and pages ask for exactly that.
import { createHash } from 'node:crypto'
import { Script } from 'node:vm'
import { expect, test } from 'vitest'
import { html } from '../../web/html.ts'
import { page } from './layout.ts'
import { refreshScript } from './refresh-script.ts'

const { content, path, integrity } = refreshScript

test('it is a script, and makes no HTML or code of texts', () => {
  expect(() => new Script(content)).not.toThrow()
  expect(content).not.toMatch(/innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|new Function/)
})

test('its address and integrity are those of its content', () => {
  const digest = createHash('sha256').update(content).digest()
  expect(path).toBe(`/refresh-${digest.toString('hex').slice(0, 16)}.js`)
  expect(integrity).toBe(`sha256-${digest.toString('base64')}`)
})

test('only a page that shows how things are now has it, and a browser without scripts reloads instead', () => {
  const still = page({ title: 'x', body: html`` }).toString()
  expect(still).not.toContain('<script')
  const live = page({ title: 'x', body: html``, live: { seconds: 5, reloadSeconds: 9, summary: 'a "b"' } }).toString()
  expect(live).toContain(`<script src="${path}" integrity="${integrity}" defer></script>`)
  expect(live).toContain('<noscript><meta http-equiv="refresh" content="9"></noscript>')
  expect(live).toContain('<main id="main" tabindex="-1" data-refresh="5" data-summary="a &quot;b&quot;">')
  expect(live).toContain('aria-live="polite"')
})
