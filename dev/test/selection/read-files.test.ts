// The list says of documentation that only pure tests read it: a test of the project unit that does would not be played.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { testProjects } from '../vitest/projects.ts'

const repository = join(import.meta.dirname, '../../..')
/** Ways in which a test names a file of the documentation as one to read. */
const readsDocs = [/\.\.\/docs\//, /\b(?:root|repository|dirname)\b.*\bdocs\//, /\breadFile.*[.]md'/]

test('no test of the project unit reads documentation', () => {
  const { pure, unit } = testProjects(repository)
  const reads = (file: string): boolean => {
    const text = readFileSync(join(repository, file), 'utf8')
    return readsDocs.some(pattern => pattern.test(text))
  }
  expect(unit.filter(reads)).toEqual([])
  // What it looks for is what such tests are.
  expect(pure.filter(reads)).toEqual(expect.arrayContaining(['src/cli/examples.test.ts', 'src/kube/metrics.test.ts']))
})
