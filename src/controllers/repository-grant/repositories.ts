// Which of its repositories a grant reaches: an approved grant goes on without those that were deleted, transferred, archived or
// made private, and for these again when that is over. Pure. What each cause means: docs/adr/0085-repositories-end-one-by-one.md.
import type { RepositoryGrant } from '../../api/github/repository-grant.ts'
import { firstRefusal } from '../../policy/check.ts'
import { type GrantRefusal, repositoryChecks } from './checks.ts'
import type { Facts } from './gather.ts'
import type { Repository } from './probe.ts'

type Status = RepositoryGrant['status']

/** A row of the status: a repository that the grant does not reach any more. */
export type EndedRepository = NonNullable<NonNullable<Status>['endedRepositories']>[number]

/** What the grant reaches, and what not, with why. `refusal`: the first one, in the order of the grant. */
export type Judged = {
  readonly held: readonly Repository[]
  readonly ended: readonly EndedRepository[]
  readonly refusal: GrantRefusal | undefined
}

const maxMessage = 1000

/** What the status says, while GitHub was not asked. */
export function judgedBefore(status: Status): Judged {
  return { held: status?.repositories ?? [], ended: status?.endedRepositories ?? [], refusal: undefined }
}

/** By the checks of each repository. A row keeps the time of its cause. */
export function judge(facts: Facts): Judged {
  const { answer, object, askedAt } = facts
  if (answer.kind !== 'found') return judgedBefore(object.status)
  const verdicts = answer.repositories.map(repository => ({
    repository,
    refusal: firstRefusal(repositoryChecks, { facts, found: answer, repository }),
  }))
  const before = object.status?.endedRepositories ?? []
  const ended = verdicts.flatMap(({ repository: { id, name }, refusal }) => {
    if (refusal === undefined) return []
    const { reason, message } = refusal
    const since = before.find(row => row.id === id && row.reason === reason)?.since ?? askedAt.toISOString()
    return [{ id, name, reason, message: message.slice(0, maxMessage), since }]
  })
  return {
    held: verdicts.flatMap(({ repository, refusal }) => (refusal === undefined ? [repository] : [])),
    ended,
    refusal: verdicts.find(({ refusal }) => refusal !== undefined)?.refusal,
  }
}

/** For the message of an approved grant: how many are out, and for the first of them what to do. */
export function endedText({ held, ended }: Judged): string {
  const [first] = ended
  if (first === undefined) return ''
  const more = ended.length === 1 ? '' : ' The others are in status.endedRepositories.'
  return ` Not for ${ended.length} of its ${held.length + ended.length} repositories: ${first.message}.${more}`
}
