// How many requests to GitHub and rows of the audit log a flood of a minute may cost: what docs/guide/token-limits.md says that
// one tenant can cause, beside acme's own use. Pure.
import type { Measured } from './bystander.ts'

/** What a flood makes the platform do that it also counts: checks of grants at GitHub, or nothing but refusals. */
export type Causes = 'checks of grants' | 'refusals'

export type Bounds = { readonly githubCalls: number; readonly auditRows: number }

/** “at most 42 a minute for refusals of any number”; a minute of a flood touches two minutes of the clock. */
const refusalRows = 2 * 42
/** “checks of all grants of one tenant at GitHub (leader): 500 at once, then 600 an hour”. */
const checks = 500 + 600 / 60
/**
 * “A check creates one token, reads the requester and the requester's access to each repository of the grant, and revokes the
 * token”: of two at most.
 */
const [repositoriesOfGrant, callsOfCheck] = [2, 3]
/** “4 for each check that changes a decision”. */
const rowsOfCheck = 4
/** acme's own use, and the platform's own checks, cost in each minute what they cost in an idle one, or this much more. */
const maxOwn = 2

/** `replicas` of the controllers: each records refusals by itself, while the leader alone checks grants. */
export function boundsOf(causes: Causes, quiet: Pick<Measured, 'githubCalls' | 'auditRows'>, replicas: number): Bounds {
  const checked = causes === 'checks of grants' ? checks : 0
  return {
    githubCalls: maxOwn * quiet.githubCalls + checked * (callsOfCheck + repositoriesOfGrant),
    auditRows: maxOwn * quiet.auditRows + replicas * refusalRows + checked * rowsOfCheck,
  }
}
