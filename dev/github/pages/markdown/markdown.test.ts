import { describe, expect, test } from 'vitest'
import { commentBody } from '../../../../src/controllers/github-report/answer/comment.ts'
import { markdown } from './markdown.ts'

const shown = (text: string): string => markdown(text).text

test('a comment of the platform looks as on GitHub: its marker is not seen, code and links are', () => {
  const situation = {
    phase: 'Running',
    commit: 'a'.repeat(40),
    url: 'https://shop-pr-1.acme.example',
    build: 'shop-1',
    message: 'a `b`\n| c |',
  }
  const context = { marker: '<!-- sekisho: 1 -->', namespace: 'acme', pipeline: 'shop', logUrl: 'https://sekisho.example/b/1' }
  const page = shown(commentBody(situation as never, context))
  expect(page).not.toContain('sekisho: 1')
  expect(page).toContain('<strong>Preview <code>shop</code>: running</strong>')
  expect(page).toContain('href="https://shop-pr-1.acme.example')
  expect(page).toMatch(/<li>Commit: <code>a{40}<\/code><\/li>/)
  expect(page).toContain('<pre><code')
})

test('lists, tables, tasks and line breaks of GitHub Flavored Markdown', () => {
  expect(shown('| a | b |\n| - | - |\n| 1 | 2 |')).toContain('<table>')
  expect(shown('- [x] done')).toContain('type="checkbox"')
  expect(shown('~~old~~')).toContain('<del>old</del>')
  expect(shown('one\ntwo')).toContain('one<br>two')
})

describe('nothing of it runs, or leads elsewhere than to a web page', () => {
  test.each([
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    'a <b onclick="alert(1)">b</b>',
    '<!-- --><svg onload=alert(1)>',
    '[a](javascript:alert(1))',
    '[a](JAVASCRIPT&#58;alert(1))',
    '<javascript:alert(1)>',
    '![a](data:image/svg+xml,<svg>)',
    '[a](https://example.com "x" onmouseover="alert(1)")',
    '[a]: javascript:alert(1)\n\n[a]',
    '```"><script>alert(1)</script>\nx\n```',
  ])('%s', text => {
    const page = shown(text)
    expect(page).not.toMatch(/<(script|img|svg|b)\b/i)
    expect(page).not.toMatch(/<[^>]*\son\w+=/i)
    expect(page).not.toMatch(/href="(?!https?:|mailto:)/i)
  })

  test('a long text is read up to what GitHub takes', () => {
    expect(shown('x'.repeat(200_000)).length).toBeLessThan(70_000)
  })
})
