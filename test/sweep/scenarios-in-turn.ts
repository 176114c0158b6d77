// Which scenarios the short form plays for a commit: the short ones always, of the others some, so that a few commits play
// all. Pure.
import { sampled } from '../fixtures/in-turn.ts'
import type { Scenario } from './scenario.ts'

/** Of those that name the points of their short form, and of those that do not: one of so many for each commit. */
const oneOf = { named: 3, unnamed: 4 }

/** `isChanged`: code changed that the scenario proves, so that one with named points is played whatever the commit is. */
export function scenariosInTurn(
  scenarios: readonly Scenario[],
  commit: string,
  isChanged: (scenario: Scenario) => boolean,
): readonly Scenario[] {
  const turnOf = (some: readonly Scenario[], parts: number): readonly Scenario[] =>
    sampled(some, ({ name }) => name, Math.ceil(some.length / parts), commit)
  const named = scenarios.filter(({ shortPoints }) => shortPoints !== undefined && shortPoints !== 'all')
  const unnamed = scenarios.filter(({ shortPoints }) => shortPoints === undefined)
  const inTurn = new Set([...turnOf(named, oneOf.named), ...turnOf(unnamed, oneOf.unnamed)])
  return scenarios.filter(
    one => one.shortPoints === 'all' || inTurn.has(one) || (one.shortPoints !== undefined && isChanged(one)),
  )
}
