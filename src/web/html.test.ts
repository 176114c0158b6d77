import fc from 'fast-check'
import { expect, test } from 'vitest'
import { html } from './html.ts'

test('texts are escaped, HTML is not, undefined and false render as nothing', () => {
  const item = html`<li>${'<b>'}</li>`
  expect(html`<ul title="${'"x\''}">${[item, item]}${undefined}${false}${0}</ul>`.toString()).toBe(
    '<ul title="&quot;x&#39;"><li>&lt;b&gt;</li><li>&lt;b&gt;</li>0</ul>',
  )
})

test('no text can open a tag or leave an attribute', () => {
  fc.assert(
    fc.property(fc.string(), text => {
      expect(html`${text}`.toString()).not.toMatch(/[<>"']/)
    }),
  )
})
