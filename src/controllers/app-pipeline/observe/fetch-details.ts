// Asks GitHub, one by one, what a choice leaves in doubt. Reads only. GitHub is asked for nothing that the memory knows, so
// that a change of a child costs no request.
import type { PullRequest } from '../../../github/index.ts'
import type { Refusal } from '../../kit/refusal.ts'
import { type Choice, choose, hasNeeds } from '../choose.ts'
import { haltOf } from '../decide.ts'
import type { Facts } from '../gather.ts'
import { type Details, detailsKey, type KnownPullRequests } from '../pull-requests/known.ts'
import { type AskDeps, type Asked, type Opened, openRepository, readable } from './open-repository.ts'

type Known = Facts & { readonly known: KnownPullRequests }

/** What one answer adds. */
type Learned = (known: KnownPullRequests) => KnownPullRequests

const added = <K, V>(map: ReadonlyMap<K, V>, key: K, value: V): ReadonlyMap<K, V> => new Map([...map, [key, value]])

async function confirm({ reader, repository }: Opened, number: number): Promise<Learned> {
  const pull = await reader.pullRequest(repository.id, number)
  return known => {
    const pulls = new Map(known.pulls)
    // The list may have shown what its own answer does not.
    if (pull === undefined) pulls.delete(number)
    else pulls.set(number, pull)
    const isMissing = pull?.state === 'open' && !known.isCut && !known.pulls.has(number)
    const missing = isMissing ? new Set([...known.missing, number]) : known.missing
    return { ...known, pulls, missing, confirmed: new Set([...known.confirmed, number]) }
  }
}

/** A commit whose message or files cannot be read excludes nothing: its author must not be able to stop other previews by it. */
async function readDetails({ reader, repository }: Opened, pull: PullRequest, withFiles: boolean): Promise<Learned> {
  const [skips, files] = await Promise.all([
    readable(reader.commitSkips(repository.id, pull.headCommit), false),
    withFiles ? readable(reader.filesOf(repository.id, pull), undefined) : undefined,
  ])
  const details: Details = { skips, files }
  return known => ({ ...known, details: added(known.details, detailsKey(pull, withFiles), details) })
}

/**
 * The choice, when GitHub was asked what it needs. An answer that does not come leaves the choice as it is without it: what is
 * in doubt stays.
 * @throws KubeError and defects only
 */
export async function fetchDetails(
  deps: AskDeps,
  facts: Known,
  asked: Asked,
): Promise<{ readonly known: KnownPullRequests; readonly choice: Choice; readonly halt: Refusal | undefined }> {
  const withFiles = facts.pipeline.spec.policy.paths !== undefined
  let { known } = facts
  let choice = choose(facts, known)
  try {
    while (hasNeeds(choice)) {
      const opened = await openRepository(deps, asked)
      const { needs } = choice
      const questions = [
        ...needs.confirm.map(number => () => confirm(opened, number)),
        ...needs.details.map(pull => () => readDetails(opened, pull, withFiles)),
      ]
      for (const question of questions) {
        asked.signal.throwIfAborted()
        known = (await question())(known)
      }
      choice = choose(facts, known)
    }
    return { known, choice, halt: undefined }
  } catch (error) {
    return { known, choice: choose(facts, known), halt: haltOf(error) }
  }
}
