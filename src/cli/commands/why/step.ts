// One step on the way from GitHub to the first answer, and what is said about it. Pure.

import { classOfReason } from '../../../api/reasons/class-of-reason.ts'
import type { Condition } from '../../../api/resource.ts'
import { findCondition, reportedGeneration } from '../../../kube/object/conditions.ts'
import type { Facts } from './facts.ts'

/** `ok` ✓, `wrong` ✗, `waiting` …, `open`: not reached, or it cannot be seen. */
export type Mark = 'ok' | 'wrong' | 'waiting' | 'open'

export type Judgement = { readonly mark: Mark; readonly text: string; readonly cure?: string | undefined }

export type Step = {
  readonly name: string
  /** Undefined when the step does not belong to the way of this object. */
  readonly judge: (facts: Facts) => Judgement | undefined
}

export const ok = (text: string): Judgement => ({ mark: 'ok', text })
export const wrong = (text: string, cure?: string): Judgement => ({ mark: 'wrong', text, cure })
export const waiting = (text: string, cure?: string): Judgement => ({ mark: 'waiting', text, cure })
export const open = (text: string): Judgement => ({ mark: 'open', text })

type WithConditions = { readonly status?: { readonly conditions?: readonly Condition[] } }

/** The condition of this type. */
export function conditionOf(object: WithConditions | undefined, type: string): Condition | undefined {
  return findCondition(object?.status?.conditions, type)
}

/** The judgement that a controller made. A stage that waits for an earlier one has not been reached. */
export function fromCondition(condition: Condition | undefined, cure?: string): Judgement {
  if (condition === undefined) return open('not reached yet')
  const { status, reason, message } = condition
  if (status === 'True') return ok(message)
  if (/^waits for [A-Z]/.test(message)) return open(message)
  return classOfReason(reason) === 'progress' ? waiting(`${reason}: ${message}`) : wrong(`${reason}: ${message}`, cure)
}

/** Seconds since a time; undefined without one. */
export function secondsSince(time: string | undefined, now: Date): number | undefined {
  return time === undefined ? undefined : Math.max(0, Math.round((now.getTime() - Date.parse(time)) / 1000))
}

const lateSeconds = 60

/** Whether the platform has seen the newest change of an object of ours. */
export function observed(
  object:
    | {
        readonly metadata: { readonly generation?: number; readonly creationTimestamp?: string; readonly name: string }
        readonly status?: { readonly observedGeneration?: number; readonly conditions?: readonly Condition[] }
      }
    | undefined,
  kind: string,
  now: Date,
): Judgement | undefined {
  if (object === undefined) return undefined
  const { generation = 1, creationTimestamp, name } = object.metadata
  const seen = reportedGeneration(object.status)
  if (seen >= generation) return ok(`${kind} ${name}, generation ${generation}`)
  const age = secondsSince(creationTimestamp, now) ?? 0
  const text = `the newest change of ${kind} ${name} (generation ${generation}) has not been looked at`
  return age > lateSeconds && seen === 0
    ? wrong(text, 'the platform does not act: report it to a platform admin')
    : waiting(text, 'if this stays for a minute, report it to a platform admin')
}
