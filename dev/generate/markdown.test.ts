import { expect, test } from 'vitest'
import { table } from './markdown.ts'

test('a cell survives pipes, line breaks and angle brackets', () => {
  expect(table(['A', 'B'], [['a|b', 'of <name>\n in `<name>`']])).toBe(
    '| A | B |\n| --- | --- |\n| a\\|b | of &lt;name> in `<name>` |',
  )
})

test('a column without any value is left out, and a table without rows is no table', () => {
  expect(table(['A', 'B'], [['1', '']])).toBe('| A |\n| --- |\n| 1 |')
  expect(table(['A'], [])).toBe('')
})
