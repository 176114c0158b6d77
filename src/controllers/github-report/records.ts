// The status of a report: what was intended, written and refused of each kind, and the conditions that follow. Pure; every
// function returns a new value.

import { type GitHubReport, githubReportReasons as reasons } from '../../api/apps/github-report.ts'
import { mergeConditions, type WantedCondition } from '../../kube/object/conditions.ts'
import { defined } from '../../lib/json/defined.ts'
import type { Refusal } from '../kit/refusal.ts'
import type { Desired } from './answer/desired.ts'
import { type DueWrite, isUnanswered, type ReportStatus, recordOf, type WriteRecord } from './decide.ts'

/** What is known of a write that GitHub has accepted, or that was found there. */
export type Accepted = {
  readonly id?: number
  readonly commit?: string
  readonly state?: string
}

const maxFormer = 20
const maxUnanswered = 10
const maxRefusal = 500

function withRecord(status: ReportStatus, record: WriteRecord): ReportStatus {
  return { ...status, writes: [...(status.writes ?? []).filter(({ kind }) => kind !== record.kind), record] }
}

/**
 * What has to end also when the answer is lost: a commit that becomes pending on GitHub, a deployment whose id nobody knows
 * then.
 */
function withUnanswered(status: ReportStatus, due: readonly DueWrite[], { commitStatus, deployment }: Desired): ReportStatus {
  const isDue = (wanted: DueWrite['kind']): boolean => due.some(({ kind }) => kind === wanted)
  const pending = isDue('CommitStatus') && commitStatus?.content.state === 'pending' ? commitStatus.content.commit : undefined
  const deployed = isDue('Deployment') ? deployment?.content.commit : undefined
  const before = (status.unansweredDeployments ?? []).filter(commit => commit !== deployed)
  return {
    ...status,
    ...defined({ pendingCommit: pending }),
    ...(deployed === undefined ? {} : { unansweredDeployments: [...before, deployed].slice(-maxUnanswered) }),
  }
}

/** What is about to be sent. What GitHub shows until then stays in the record, as far as it is known. */
export function withIntended(
  status: ReportStatus,
  due: readonly DueWrite[],
  { desired, now }: { readonly desired: Desired; readonly now: Date },
): ReportStatus {
  return due.reduce(
    (before, { kind, hash }) => {
      const record = recordOf(before, kind)
      const { refused, written, state, ...kept } = record ?? {}
      const known = {
        ...defined({ written, state }),
      }
      // What was intended before may be on GitHub instead of what was written before that.
      const isKnown = record === undefined || record.intended === hash || !isUnanswered(record)
      return withRecord(before, { ...kept, ...(isKnown ? known : {}), kind, intended: hash, intendedAt: now.toISOString() })
    },
    withUnanswered(status, due, desired),
  )
}

/** Nothing is to be ended for a deployment of the commit that the report does not know. */
export function withoutUnanswered(status: ReportStatus, commit: string): ReportStatus {
  const { unansweredDeployments = [], ...rest } = status
  const left = unansweredDeployments.filter(other => other !== commit)
  return left.length === 0 ? rest : { ...rest, unansweredDeployments: left }
}

/** The status of the commit is not pending on GitHub any more. */
export function withoutPendingCommit(status: ReportStatus, commit: string): ReportStatus {
  const { pendingCommit, ...rest } = status
  return pendingCommit === commit ? rest : status
}

/**
 * Another report writes the status of the commit from now on: what this one wrote may not be shown any more, and is written
 * again when it has to. What it left pending stays known: when nobody says anything about the commit any more, it ends.
 */
export function withoutStatusOf(status: ReportStatus, commits: readonly string[]): ReportStatus {
  const { writes = [] } = status
  const left = writes.filter(({ kind, commit }) => kind !== 'CommitStatus' || commit === undefined || !commits.includes(commit))
  return left.length === writes.length ? status : { ...status, writes: left }
}

/** GitHub shows what was intended. */
export function withWritten(status: ReportStatus, { kind, hash }: DueWrite, accepted: Accepted): ReportStatus {
  const record = recordOf(status, kind)
  return record === undefined ? status : withRecord(status, { ...record, ...accepted, written: hash })
}

/** GitHub will not show it, whatever is repeated. */
export function withRefused(status: ReportStatus, { kind }: DueWrite, message: string): ReportStatus {
  const record = recordOf(status, kind)
  return record === undefined ? status : withRecord(status, { ...record, refused: message.slice(0, maxRefusal) || 'refused' })
}

/** The deployment was deleted on GitHub: another one is made when the next state is written. */
export function withoutDeployment(status: ReportStatus): ReportStatus {
  return { ...status, writes: (status.writes ?? []).filter(({ kind }) => kind !== 'Deployment' && kind !== 'DeploymentStatus') }
}

/**
 * Another deployment takes the place of the present one, which has to become inactive: at once, or when the new one runs if it
 * serves until then.
 */
export function withSupersededDeployment(status: ReportStatus): ReportStatus {
  const id = recordOf(status, 'Deployment')?.id
  if (id === undefined) return status
  const shown = recordOf(status, 'DeploymentStatus')
  const state = shown?.id === id ? shown.state : undefined
  if (state === 'failure' || state === 'inactive') return status
  const former = status.formerDeployments ?? []
  if (state !== 'success') return { ...status, formerDeployments: [...former, id].slice(-maxFormer) }
  const before = status.servingDeployment
  return {
    ...status,
    servingDeployment: id,
    ...(before === undefined ? {} : { formerDeployments: [...former, before].slice(-maxFormer) }),
  }
}

/** The former deployment is inactive on GitHub. */
export function withEndedDeployment(status: ReportStatus, id: number): ReportStatus {
  const { formerDeployments = [], servingDeployment, ...rest } = status
  const left = formerDeployments.filter(other => other !== id)
  return {
    ...rest,
    ...(left.length === 0 ? {} : { formerDeployments: left }),
    ...(servingDeployment === undefined || servingDeployment === id ? {} : { servingDeployment }),
  }
}

function acceptedCondition({ writes = [] }: ReportStatus): WantedCondition {
  const refused = writes.find(record => record.refused !== undefined)
  if (refused === undefined)
    return { type: 'Accepted', status: 'True', reason: reasons.accepted, message: 'GitHub has refused nothing' }
  return { type: 'Accepted', status: 'False', reason: reasons.refused, message: `${refused.kind}: ${refused.refused}` }
}

/** The status with its conditions. `hindrance`: undefined when nothing is left to write. */
export function nextStatus(report: GitHubReport, status: ReportStatus, hindrance: Refusal | undefined, now: Date): ReportStatus {
  const accepted = acceptedCondition(status)
  const blocked = hindrance ?? (accepted.status === 'False' ? accepted : undefined)
  const ready: WantedCondition =
    blocked === undefined
      ? { type: 'Ready', status: 'True', reason: reasons.reported, message: 'GitHub shows the present state' }
      : { type: 'Ready', status: 'False', reason: blocked.reason, message: blocked.message.slice(0, 1000) }
  const generation = report.metadata.generation ?? 1
  return {
    ...status,
    observedGeneration: generation,
    conditions: mergeConditions(report.status?.conditions, [accepted, ready], generation, now),
  }
}
