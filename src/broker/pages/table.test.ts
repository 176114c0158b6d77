// What pages show alike: bounded texts, times, and links that lead to the web only.
import { expect, test } from 'vitest'
import { commit, repositoryUrl, shortText, table, time, webLink } from './table.ts'

test('a text is cut before half a character', () => {
  expect(shortText('short')).toBe('short')
  expect(shortText('x'.repeat(400))).toHaveLength(300)
  expect(shortText(`${'x'.repeat(8)}😀😀`, 10)).toBe(`${'x'.repeat(8)}…`)
})

test.each([
  ['https://shop.example/a?b=1&c', '<a href="https://shop.example/a?b=1&amp;c">https://shop.example/a?b=1&amp;c</a>'],
  ['javascript:alert(1)', 'javascript:alert(1)'],
  ['data:text/html,x', 'data:text/html,x'],
  ['//other.example', '//other.example'],
  ['not an address', 'not an address'],
])('%s', (address, expected) => {
  expect(webLink(address).toString()).toBe(expected)
})

test('a name cannot leave its place in an address', () => {
  expect(repositoryUrl('https://github.com', 'acme/a?b#c', 'pull', 7)).toBe('https://github.com/acme/a%3Fb%23c/pull/7')
})

test('a table names itself, its columns and its rows', () => {
  const text = table({ caption: 'What', columns: ['Name', 'State'], rows: [['shop', undefined]] }).toString()
  expect(text).toContain('<caption>What</caption>')
  expect(text).toContain('<th scope="row" role="rowheader">shop</th><td role="cell" data-label="State"></td>')
})

test('times and commits', () => {
  expect(time('2026-01-01T10:00:00Z').toString()).toContain('>2026-01-01 10:00:00 UTC<')
  expect(time('<b>').toString()).toBe('&lt;b&gt;')
  expect(commit('a'.repeat(40))?.toString()).toBe('<code class="word">aaaaaaaaaaaa</code>')
  expect(commit(undefined)).toBeUndefined()
})
