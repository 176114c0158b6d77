// The judging of a tree in an image: whatever was followed, expanded or fetched is a success of the attack; what cannot be seen
// is unclear.
import { expect, test } from 'vitest'
import { judgeEmpty, judgeFollowed, judgeLinks, judgeUnchanged } from './judge-tree.ts'

test('a link that became a file was followed', () => {
  const links = new Map([['/tree/links/passwd', '/etc/passwd']])
  expect(judgeLinks({ '/tree/links/passwd': { link: '/etc/passwd' } }, links).outcome).toBe('stopped')
  expect(judgeLinks({ '/tree/links/passwd': { link: '/workspace/etc/passwd' } }, links).outcome).toBe('stopped')
  expect(judgeLinks({ '/tree/links/passwd': { link: '/other/etc/passwd' } }, links).outcome).toBe('unclear')
  expect(judgeLinks({ '/tree/links/passwd': { text: 'root:x:0:0' } }, links).outcome).toBe('succeeded')
  expect(judgeLinks({}, links).outcome).toBe('unclear')
})

test('a step that follows a link gets the file of the commit, or the attack succeeded', () => {
  expect(judgeFollowed({ a: { text: 'inside\n' } }, 'a', 'inside').outcome).toBe('stopped')
  expect(judgeFollowed({ a: { text: '{"auths":{}}' } }, 'a', 'inside').outcome).toBe('succeeded')
  expect(judgeFollowed({}, 'a', 'inside').outcome).toBe('unclear')
})

test('a file that a driver changed', () => {
  const files = new Map([['subst.txt', '$Format:%H$']])
  expect(judgeUnchanged({ 'subst.txt': { text: '$Format:%H$' } }, files).outcome).toBe('stopped')
  expect(judgeUnchanged({ 'subst.txt': { text: '0123abcd' } }, files).outcome).toBe('succeeded')
  expect(judgeUnchanged({}, files).outcome).toBe('unclear')
})

test('a submodule that was fetched', () => {
  expect(judgeEmpty({ a: { names: [] } }, 'a').outcome).toBe('stopped')
  expect(judgeEmpty({}, 'a').outcome).toBe('stopped')
  expect(judgeEmpty({ a: { names: ['plans.md'] } }, 'a').outcome).toBe('succeeded')
})
