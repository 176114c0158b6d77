import { expect, test } from 'vitest'
import { faultPage } from './fault-page.ts'
import type { RecordedOutcome } from './outcome.ts'

const machine = { processors: 2, processorModel: 'Abacus', memoryGigabytes: 4, node: 'v24', go: 'none' }
const outcome = (change: Partial<RecordedOutcome>): RecordedOutcome => ({
  fault: 15,
  case: 'the database is down',
  measure: 'tokens handed out',
  value: 0,
  unit: 'tokens',
  atMost: 0,
  met: true,
  date: '2026-01-02T00:00:00Z',
  ...change,
})

test('every outcome has a row under its fault, in the order of the list', () => {
  const page = faultPage(
    [
      outcome({}),
      outcome({
        fault: 7,
        case: 'GitHub | away',
        measure: 'calls',
        value: 17.0625,
        unit: 'calls',
        atMost: 30,
        atLeast: 1,
        date: '2026-01-01T00:00:00Z',
      }),
      outcome({ case: 'the database is silent', value: 1, met: false }),
    ],
    machine,
  )
  expect(page).toContain('2026-01-02, 2 × Abacus, 4 GB, Node v24.')
  expect(page).toContain('3 outcomes of 2 faults; 2 within their bounds.')
  expect(page).toContain('| 7 | GitHub \\| away | calls | 17.1 calls (2026-01-01) | ≥ 1, ≤ 30 | yes |')
  expect(page).toContain('| 15 | the database is silent | tokens handed out | 1 tokens | ≤ 0 | **no** |')
  expect(page.indexOf('## 7.')).toBeLessThan(page.indexOf('## 15.'))
})
