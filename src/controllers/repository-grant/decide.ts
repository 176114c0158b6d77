// Whether a grant is approved: a list of checks in order, each with its reason; the last one is the policy. Pure.
// Approved says what was decided; Ready says that it holds at this moment. GitHub being away for less than a day changes neither.
import { repositoryGrantReasons as reasons } from '../../api/github/repository-grant.ts'
import type { RepositoryPermission } from '../../github/index.ts'
import { findCondition } from '../../kube/object/conditions.ts'
import { decideGrant } from '../../policy/index.ts'
import { type Facts, isExpired } from './gather.ts'

export type Decision = 'Approved' | 'Denied'

/** `rule` names what decided, for the person who asks why. */
export type Judgement = { readonly decision: Decision; readonly rule: string; readonly reason: string; readonly message: string }

export type Finding = { readonly status: 'True' | 'False' | 'Unknown'; readonly reason: string; readonly message: string }

export type Verdict = {
  /** Undefined while nothing was ever decided. */
  readonly judgement: Judgement | undefined
  readonly approved: Finding
  readonly ready: Finding
  /** GitHub answered everything just now. */
  readonly checked: boolean
  /** The grant does not hold: live tokens under it must end. */
  readonly revoke: boolean
}

type Check = { readonly rule: string; readonly refuses: (facts: Facts) => { reason: string; message: string } | undefined }

const graceMilliseconds = 86_400_000
const levels = ['read', 'write', 'admin'] as const
/** From which of GitHub's roles on a person has a level of access. */
const roles: Readonly<Record<(typeof levels)[number], readonly RepositoryPermission[]>> = {
  read: ['read', 'triage', 'write', 'maintain', 'admin'],
  write: ['write', 'maintain', 'admin'],
  admin: ['admin'],
}

export const checks: readonly Check[] = [
  {
    // The name of every repository means one that this installation reaches.
    rule: 'repositories-exist',
    refuses: ({ answer }) =>
      answer.kind === 'missing'
        ? {
            reason: reasons.repositoryNotFound,
            message: `the App's installation does not reach ${answer.names.join(', ')}: check the names, or add them to the installation on GitHub`,
          }
        : undefined,
  },
  {
    rule: 'repositories-within-ceiling',
    refuses: ({ answer, installation }) => {
      const { ceiling } = installation?.spec ?? {}
      if (answer.kind !== 'found' || ceiling?.repositories === 'All') return undefined
      const allowed = new Set(ceiling?.repositoryIds ?? [])
      const above = answer.repositories.find(({ id }) => !allowed.has(id))
      return above && { reason: reasons.aboveCeiling, message: `${above.name} is not among the repositories of the Installation` }
    },
  },
  {
    // `metadata: read` comes with every token, so it is within every ceiling.
    rule: 'permissions-within-ceiling',
    refuses: ({ object, installation }) => {
      const ceiling = new Map<string, string>([
        ['metadata', 'read'],
        ...Object.entries(installation?.spec.ceiling.permissions ?? {}),
      ])
      const above = Object.entries(object.spec.permissions).find(([name, level]) => rank(level) > rank(ceiling.get(name)))
      return above && { reason: reasons.aboveCeiling, message: `${above[0]}: ${above[1]} is above what the Installation allows` }
    },
  },
  {
    // A ServiceAccount, a certificate or a person of another host has no access on this GitHub that could be passed on.
    rule: 'requester-is-known',
    refuses: ({ object, answer }) =>
      answer.kind === 'no-person' || (answer.kind === 'found' && answer.requester.kind === 'unknown')
        ? {
            reason: reasons.requesterUnknown,
            message: `${object.spec.requestedBy} is nobody on the GitHub of this Installation: a person has to ask, signed in with GitHub`,
          }
        : undefined,
  },
  {
    // Nobody passes on what he does not have.
    rule: 'requester-has-access',
    refuses: ({ object, answer }) => {
      if (answer.kind !== 'found' || answer.requester.kind !== 'known') return undefined
      const { login, permissions } = answer.requester
      const needed = levels[Math.max(...Object.values(object.spec.permissions).map(rank))] ?? 'admin'
      const lacking = answer.repositories.find(({ id }) => !roles[needed].includes(permissions.get(id) ?? 'none'))
      return (
        lacking && {
          reason: reasons.requesterLacksAccess,
          message: `${login} does not have ${needed} access to ${lacking.name} on GitHub: somebody who has it must ask`,
        }
      )
    },
  },
]

export function decide(facts: Facts): Verdict {
  const { answer } = facts
  const checked = answer.kind === 'found' || answer.kind === 'missing' || answer.kind === 'no-person'
  const judgement = checked ? judge(facts) : judgedBefore(facts)
  const approved = approval(facts, judgement)
  const ready = readiness(facts, judgement, approved)
  return { judgement, approved, ready, checked, revoke: ready.status === 'False' }
}

function judge(facts: Facts): Judgement {
  for (const { rule, refuses } of checks) {
    const refusal = refuses(facts)
    if (refusal) return { decision: 'Denied', rule, ...refusal }
  }
  const { permissions, subjects } = facts.object.spec
  const repositoryIds = facts.answer.kind === 'found' ? facts.answer.repositories.map(({ id }) => id) : []
  const { decision, rule, reason } = decideGrant({ repositoryIds, permissions, subjects })
  return { decision, rule, reason: decision === 'Approved' ? reasons.approved : reasons.deniedByPolicy, message: reason }
}

function judgedBefore({ object }: Facts): Judgement | undefined {
  const { decision, rule = '', conditions } = object.status ?? {}
  const said = findCondition(conditions, 'Approved')
  if (said === undefined || (decision !== 'Approved' && decision !== 'Denied')) return undefined
  return { decision, rule, reason: said.reason, message: said.message }
}

function approval({ answer }: Facts, judgement: Judgement | undefined): Finding {
  if (judgement === undefined) {
    const message = answer.kind === 'unreachable' ? answer.message : 'not decided yet: the Installation has to be ready first'
    return {
      status: 'Unknown',
      reason: answer.kind === 'unreachable' ? reasons.unreachable : reasons.installationNotReady,
      message,
    }
  }
  const { decision, reason, message } = judgement
  return { status: decision === 'Approved' ? 'True' : 'False', reason, message }
}

function readiness(facts: Facts, judgement: Judgement | undefined, approved: Finding): Finding {
  const { object, installationReady, answer, askedAt } = facts
  const { installation } = object.spec
  if (isExpired(object, askedAt))
    return {
      status: 'False',
      reason: reasons.expired,
      message: `expired at ${object.status?.expiresAt}: delete it and ask again`,
    }
  if (!installationReady)
    return { status: 'False', reason: reasons.installationNotReady, message: `Installation ${installation} is not ready` }
  if (answer.kind !== 'unreachable' || judgement?.decision !== 'Approved') return approved
  const age = askedAt.getTime() - Date.parse(object.status?.checkedAt ?? '')
  if (age < graceMilliseconds)
    return {
      status: 'True',
      reason: reasons.unreachable,
      message: `GitHub does not answer; checked last at ${object.status?.checkedAt}`,
    }
  return { status: 'False', reason: reasons.unreachable, message: `GitHub has not answered for a day: ${answer.message}` }
}

/** -1 for what is no level: nothing asked is below it. */
function rank(level: string | undefined): number {
  const ladder: readonly (string | undefined)[] = levels
  return ladder.indexOf(level)
}
