import { expect, test } from 'vitest'
import { sumOf } from './metrics.ts'

const text = `# HELP statements_total Statements
statements_total{service_class="a",purpose="look"} 3
statements_total{service_class="a",purpose="guard"} 20
statements_total{service_class="b",purpose="guard"} 1.5e+01
statements_total_more{purpose="guard"} 100
leads 1
`

test('series of one metric are added up, those with a label alone when it is named', () => {
  expect(sumOf(text, 'statements_total')).toBe(38)
  expect(sumOf(text, 'statements_total', 'purpose="guard"')).toBe(35)
  expect(sumOf(text, 'leads')).toBe(1)
  expect(sumOf(text, 'unknown')).toBe(0)
})
