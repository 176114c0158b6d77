// Text of every colour can be read on the background of both schemes: WCAG 2.2, 1.4.3 (contrast of at least 4.5 to 1).
// Source: https://www.w3.org/TR/WCAG22/#dfn-relative-luminance
import { expect, test } from 'vitest'
import { styleSheet } from './style.ts'

const coloursIn = (text: string): ReadonlyMap<string, string> =>
  new Map([...text.matchAll(/--([a-z]+): (#[0-9a-f]{6});/g)].map(([, name = '', value = '']) => [name, value]))

const [light = '', dark = ''] = styleSheet.split('@media (prefers-color-scheme: dark)')
const schemes = { light: coloursIn(light), dark: coloursIn(dark.slice(0, dark.indexOf('* {'))) }

function luminance(colour: string): number {
  const channels = [1, 3, 5].map(at => Number.parseInt(colour.slice(at, at + 2), 16) / 255)
  const [red = 0, green = 0, blue = 0] = channels.map(one => (one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4))
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function contrast(one: string, other: string): number {
  const [lighter = 0, darker = 0] = [luminance(one), luminance(other)].toSorted((a, b) => b - a)
  return (lighter + 0.05) / (darker + 0.05)
}

test.each(Object.entries(schemes))('%s', (_scheme, colours) => {
  const paper = colours.get('paper') ?? ''
  const text = [...colours].filter(([name]) => name !== 'paper' && name !== 'line')
  expect(text.map(([name]) => name)).toEqual(['ink', 'accent', 'quiet', 'bad', 'waiting', 'progress', 'good', 'off'])
  for (const [name, colour] of text) expect([name, contrast(colour, paper) >= 4.5]).toEqual([name, true])
})

test('nothing is made paler than its colour', () => {
  expect(styleSheet).not.toContain('opacity')
})
