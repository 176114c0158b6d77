// What the bench expects to be kept is what the platform keeps of what is sent.
import { expect, test } from 'vitest'
import { createCleanText } from '../../../src/services/builds/logs/clean-text.ts'
import { parseLine } from '../../../src/services/builds/logs/lines.ts'
import { keptLine, linesIn, printedLine, secondOf, secret, sentLine } from './log-text.ts'

test('colours and secrets are printed and not kept', () => {
  const clean = createCleanText([secret])
  const lines = Array.from({ length: 2000 }, (_, index) => index)
  expect(lines.map(index => clean(printedLine(index)))).toEqual(lines.map(keptLine))
  expect(lines.filter(index => printedLine(index).includes(secret))).toEqual([0, 997, 1994])
})

test('lines are sent in the order of time, with the second in which a log can be resumed', () => {
  const times = [0, 1, 9999, 10_000, 25_000].map(index => parseLine(sentLine(index).trimEnd()).time)
  expect(times.map(time => time?.exact)).toEqual(times.map(time => time?.exact).sort())
  expect(times.map(time => Date.parse(time?.second ?? ''))).toEqual([0, 1, 9999, 10_000, 25_000].map(secondOf))
})

test('a log has as many lines as fill it', () => {
  const lines = linesIn(10_000)
  const bytes = (count: number): number => Array.from({ length: count }, (_, index) => sentLine(index)).join('').length
  expect(bytes(lines)).toBeGreaterThanOrEqual(10_000)
  expect(bytes(lines - 1)).toBeLessThan(10_000)
})
