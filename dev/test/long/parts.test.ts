import { expect, test } from 'vitest'
import { proofs } from '../selection/proofs.ts'
import { parts } from './parts.ts'

test.each(
  proofs.flatMap(({ name, part, file, tests = [] }) =>
    [...tests, ...(file === undefined ? [] : [file])].map(path => [path, name, part] as const),
  ),
)('%s of %s is played by the part %s', (path, _name, part) => {
  const played = parts.find(({ name }) => name === part)?.lane.flatMap(({ args }) => args)
  expect(played).toContain(path)
})

test('each case names a part', () => {
  const names = parts.map(({ name }) => name)
  for (const { part } of proofs) expect(names).toContain(part)
})
