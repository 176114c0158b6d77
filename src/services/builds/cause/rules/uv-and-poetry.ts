// What uv and poetry say. Sources: https://docs.astral.sh/uv/concepts/projects/sync, https://python-poetry.org/docs/cli
import { group, type Rule } from '../rule.ts'

/** Lines of a box, one sentence. */
function sentenceOf(lines: string): string {
  return lines
    .replaceAll(/[╰├│─▶]/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, 300)
}

export const uvAndPoetryRules: readonly Rule[] = [
  {
    pattern: /The lockfile at `uv\.lock` needs to be updated/m,
    say: () => 'uv.lock does not agree with pyproject.toml: run "uv lock" and commit uv.lock',
  },
  {
    pattern:
      /pyproject\.toml changed significantly since poetry\.lock was last generated|poetry\.lock is not up to date with pyproject\.toml/m,
    say: () => 'poetry.lock does not agree with pyproject.toml: run "poetry lock" and commit poetry.lock',
  },
  {
    pattern: /^\W*No solution found when resolving (?:.*):\n((?:\s.*\n){1,6})/m,
    say: match => `no versions fit together: ${sentenceOf(group(match, 1))}`,
  },
  {
    pattern: /^(Because .+(?:\n.*){0,5}?, version solving failed)\.$/m,
    say: match => `no versions fit together: ${sentenceOf(group(match, 1))}`,
  },
]
