import { describe, expect, test } from 'vitest'
import { commitOfImage } from './image-commit.ts'

const commit = 'a'.repeat(40)
const labelled = (text: string) => commitOfImage({ kind: 'labels', labels: { 'io.buildpacks.project.metadata': text } })

describe('the commit that an image names', () => {
  test('is the one that was checked out, not the revision that was asked for', () => {
    const metadata = { repository: 'http://source/secret', revision: 'f'.repeat(40) }
    expect(labelled(JSON.stringify({ source: { type: 'git', version: { commit }, metadata } }))).toEqual({
      kind: 'proven',
      commit,
    })
  })

  test.each([
    ['no JSON', 'commit'],
    ['a list', '[]'],
    ['no source', '{}'],
    ['a source that is not git', JSON.stringify({ source: { type: 'blob', version: { commit } } })],
    ['a short commit', JSON.stringify({ source: { type: 'git', version: { commit: 'aaaaaaa' } } })],
    ['a commit that is not text', JSON.stringify({ source: { type: 'git', version: { commit: [commit] } } })],
    ['a very long label', JSON.stringify({ source: { type: 'git', version: { commit }, more: 'x'.repeat(70_000) } })],
  ])('is absent for %s', (_what, text) => {
    expect(labelled(text)).toMatchObject({ kind: 'absent' })
  })

  test('is absent without the label', () => {
    expect(commitOfImage({ kind: 'labels', labels: {} })).toMatchObject({ kind: 'absent' })
  })

  test('is unknown while the image cannot be read, and absent when it never can', () => {
    const unreadable = { kind: 'unreadable', message: 'away' } as const
    expect(commitOfImage({ ...unreadable, permanent: false })).toEqual({ kind: 'unreadable', message: 'away' })
    expect(commitOfImage({ ...unreadable, permanent: true })).toEqual({ kind: 'absent', message: 'away' })
  })
})
