// Signs: each class of reason has a mark and a word of its own, and no colour stands alone.
import { expect, test } from 'vitest'
import type { ReasonClass } from '../../../api/reasons/reason.ts'
import { styleSheet } from '../style.ts'
import { classOfBuild, signed } from './sign.ts'

const classes: readonly ReasonClass[] = ['failed', 'person', 'machine', 'progress', 'intended', 'ready']

test.each(classes)('%s has a mark for people who see it, words for others, and a colour of the style sheet', of => {
  const text = signed(of, 'Reason').toString()
  const [, tone = '', mark = '', words = ''] =
    /^<span class="word sign (\w+)"><span aria-hidden="true">(.)<\/span> <span class="spoken">([^<]+): <\/span>Reason<\/span>$/.exec(
      text,
    ) ?? []
  expect([mark.length, words.length > 0]).toEqual([1, true])
  expect(styleSheet).toContain(`.${tone} { color: var(--${tone}); }`)
})

test('no two classes have the same mark or words', () => {
  const said = classes.map(of => signed(of, 'x').toString())
  expect(new Set(said.map(text => /aria-hidden="true">(.)/.exec(text)?.[1])).size).toBe(classes.length)
  expect(new Set(said.map(text => /spoken">([^<]+)/.exec(text)?.[1])).size).toBe(classes.length)
})

test('a word that the sign says itself is not said twice', () => {
  expect(signed('ready', 'ready').toString()).not.toContain('spoken')
})

test('builds have the class of their outcome', () => {
  const at = new Date(0)
  expect(classOfBuild({})).toBe('progress')
  for (const [outcome, of] of [
    ['Succeeded', 'ready'],
    ['Failed', 'failed'],
    ['TimedOut', 'failed'],
    ['Cancelled', 'intended'],
  ] as const)
    expect(classOfBuild({ ended: { at, outcome } })).toBe(of)
})
