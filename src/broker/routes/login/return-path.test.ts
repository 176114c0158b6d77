import fc from 'fast-check'
import { expect, test } from 'vitest'
import { safeReturnPath } from './return-path.ts'

test.each([
  [undefined, '/'],
  ['', '/'],
  ['/', '/'],
  ['/tenants/acme', '/tenants/acme'],
  ['/oidc/interaction/abc-DEF_1?x=1&y=%20', '/oidc/interaction/abc-DEF_1?x=1&y=%20'],
  ['/device?user_code=A//B&x=%2F..%2F', '/device?user_code=A//B&x=%2F..%2F'],
])('%s leads to %s', (text, path) => {
  expect(safeReturnPath(text)).toBe(path)
})

test.each([
  'https://evil.example',
  '//evil.example',
  '/\\evil',
  '\\/evil',
  'javascript:alert(1)',
  'a',
  '/%5cevil',
  '/.//evil.example',
  '/x/..//evil.example',
  '/%2e//evil.example',
  '/a/%2E%2E//evil.example',
  '/a/../b',
  '/a/..',
  '/a//evil.example',
  '/a\nb',
  '/ü',
  `/${'a'.repeat(1600)}`,
])('%s is refused', text => {
  expect(() => safeReturnPath(text)).toThrow('return_to must be a path')
})

test('every accepted text stays on this host, as a browser reads it', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.webUrl(),
        fc.string(),
        fc.webPath(),
        fc.string({ unit: fc.constantFrom('/', '\\', '.', '%', '2', 'f', ':', '@', 'a') }),
        fc.array(fc.constantFrom('/', '.', '..', '%2e', 'evil.example'), { maxLength: 8 }).map(parts => `/${parts.join('')}`),
      ),
      text => {
        let path: string
        try {
          path = safeReturnPath(text)
        } catch {
          return
        }
        expect(new URL(path, 'https://here.example/login').origin).toBe('https://here.example')
        // A server that normalises a path sends it back normalised.
        const { pathname, search } = new URL(path, 'https://here.example')
        expect(new URL(`${pathname}${search}`, 'https://here.example').origin).toBe('https://here.example')
      },
    ),
  )
})
