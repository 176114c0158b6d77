// What is written when: at most one write of each kind in ten seconds, whatever happens; the last state always arrives; what
// GitHub shows is not written again.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Desired, desiredAnswers } from './answer/desired.ts'
import type { Phase, Situation } from './answer/situation.ts'
import {
  type DueWrite,
  decideWrites,
  endingDeployments,
  paceMilliseconds,
  type ReportStatus,
  recordOf,
  refusedMilliseconds,
} from './decide.ts'
import {
  withEndedDeployment,
  withIntended,
  withoutUnanswered,
  withRefused,
  withSupersededDeployment,
  withWritten,
} from './records.ts'
import { reportContext } from './testing/report-context.ts'

const now = new Date('2026-01-01T00:00:00Z')
const later = (milliseconds: number) => new Date(now.getTime() + milliseconds)
const context = reportContext('shop-pr-1')
const commit = (digit: number) => String(digit).repeat(40)
const situation = (phase: Phase, about = commit(1)): Situation => ({
  phase,
  commit: phase === 'Gone' ? undefined : about,
  since: now.toISOString(),
  url: phase === 'Running' ? 'https://pr-1.example.test' : undefined,
  build: undefined,
  reason: undefined,
  message: undefined,
  exists: !['Gone', 'LeftOut', 'WaitingForApproval'].includes(phase),
  isUnapproved: phase === 'WaitingForApproval',
})
const plan = (phase: Situation, status: ReportStatus, at = now, isRelaxed = true) =>
  decideWrites({ desired: desiredAnswers(phase, context), status, now: at, isRelaxed })

function afterEnd(before: ReportStatus, { hash }: DueWrite, desired: Desired): ReportStatus {
  const ending = endingDeployments(before, desired).find(one => one.hash === hash)
  return ending?.commit === undefined ? withEndedDeployment(before, ending?.id ?? 0) : withoutUnanswered(before, ending.commit)
}

/** What the report says after GitHub accepted one write. */
function afterWrite(before: ReportStatus, one: DueWrite, desired: Desired): ReportStatus {
  const ofDeployment = recordOf(before, 'Deployment')?.id
  const present = ofDeployment === undefined ? {} : { id: ofDeployment }
  switch (one.kind) {
    case 'Deployment':
      return withWritten(withoutUnanswered(withSupersededDeployment(before), desired.deployment?.content.commit ?? ''), one, {
        id: Number(desired.deployment?.content.commit[0]),
      })
    case 'DeploymentStatus':
      return withWritten(before, one, { ...present, state: desired.deploymentStatus?.content.state ?? '' })
    case 'FormerDeployment':
      return withWritten(afterEnd(before, one, desired), one, {})
    default:
      return withWritten(before, one, {})
  }
}

/** GitHub accepts everything that is due. */
function accepted(present: Situation, before: ReportStatus, at: Date): ReportStatus {
  const desired = desiredAnswers(present, context)
  const { due } = decideWrites({ desired, status: before, now: at, isRelaxed: true })
  return due.reduce((status, one) => afterWrite(status, one, desired), withIntended(before, due, { desired, now: at }))
}

describe('what is due', () => {
  test('of a preview that has just begun to wait nothing: the build that follows is shown at once, and not ten seconds later', () => {
    expect(plan(situation('Waiting'), {}, later(1000))).toEqual({ due: [], requeueAfterMilliseconds: 4000, isSettled: false })
    expect(plan(situation('Building'), {}, later(1000)).due).toHaveLength(4)
    expect(plan(situation('Waiting'), {}, later(5000)).due.map(({ kind }) => kind)).toEqual(['Comment', 'CommitStatus'])
    expect(plan(situation('Waiting'), {}, later(-60_000)).due).toHaveLength(2)
  })

  test('at first everything, the comment first, and the status of the deployment after the deployment', () => {
    expect(plan(situation('Building'), {}).due.map(({ kind }) => kind)).toEqual([
      'Comment',
      'CommitStatus',
      'Deployment',
      'DeploymentStatus',
    ])
  })

  test('nothing when GitHub shows it', () => {
    const status = accepted(situation('Running'), {}, now)
    expect(plan(situation('Running'), status, later(hourLater))).toEqual({
      due: [],
      requeueAfterMilliseconds: undefined,
      isSettled: true,
    })
  })

  test('the next state after ten seconds', () => {
    const status = accepted(situation('Building'), {}, now)
    expect(plan(situation('Running'), status, later(3_000))).toEqual({
      due: [],
      requeueAfterMilliseconds: 7_000,
      isSettled: false,
    })
    expect(plan(situation('Running'), status, later(paceMilliseconds)).due.map(({ kind }) => kind)).toEqual([
      'Comment',
      'CommitStatus',
      'DeploymentStatus',
    ])
  })

  test('nothing when the state is again what GitHub shows; what was intended in between is not certain', () => {
    const status = accepted(situation('Running'), {}, now)
    expect(plan(situation('Running'), status, later(1)).isSettled).toBe(true)
    const { due } = plan(situation('Failed'), status, later(paceMilliseconds))
    const failing = desiredAnswers(situation('Failed'), context)
    const intended = withIntended(status, due, { desired: failing, now: later(paceMilliseconds) })
    const back = plan(situation('Running'), intended, later(2 * paceMilliseconds)).due
    expect(back.map(({ kind }) => kind)).toEqual(['Comment', 'CommitStatus', 'DeploymentStatus'])
    const again = plan(situation('Failed'), intended, later(2 * paceMilliseconds)).due
    expect(again.every(({ isUncertain }) => isUncertain)).toBe(true)
    expect(due.some(({ isUncertain }) => isUncertain)).toBe(false)
  })

  test('what GitHub refused after an hour, or when something changes; it does not hold up the end', () => {
    const { due } = plan(situation('Building'), {})
    const intended = withIntended({}, due, { desired: desiredAnswers(situation('Building'), context), now })
    const refused = due.reduce((status, one) => withRefused(status, one, 'no'), intended)
    const wait = plan(situation('Building'), refused, later(paceMilliseconds))
    expect(wait.due).toEqual([])
    expect(wait.isSettled).toBe(true)
    expect(wait.requeueAfterMilliseconds).toBe(refusedMilliseconds - paceMilliseconds)
    expect(plan(situation('Building'), refused, later(refusedMilliseconds)).due.map(({ kind }) => kind)).toEqual([
      'Comment',
      'CommitStatus',
      'Deployment',
    ])
    expect(plan(situation('Failed'), refused, later(paceMilliseconds)).due.map(({ kind }) => kind)).toContain('CommitStatus')
  })

  test('nothing about a deployment of a commit that GitHub refuses to deploy', () => {
    const status = accepted(situation('Running'), {}, now)
    const next = situation('Running', commit(2))
    const due = plan(next, status, later(paceMilliseconds)).due.filter(({ kind }) => kind === 'Deployment')
    const refused = due.reduce(
      (before, one) => withRefused(before, one, 'gone'),
      withIntended(status, due, { desired: desiredAnswers(next, context), now: later(paceMilliseconds) }),
    )
    expect(plan(next, refused, later(3 * paceMilliseconds)).due.map(({ kind }) => kind)).not.toContain('DeploymentStatus')
  })

  test('while the installation has written much: lasting states only, and passing ones later', () => {
    expect(plan(situation('Building'), {}, now, false)).toEqual({ due: [], requeueAfterMilliseconds: 60_000, isSettled: false })
    expect(plan(situation('Failed'), {}, now, false).due.length).toBe(4)
  })

  test('at the end: no comment where there was none', () => {
    expect(plan(situation('Gone'), {})).toEqual({ due: [], requeueAfterMilliseconds: undefined, isSettled: true })
    const status = accepted(situation('Running'), {}, now)
    expect(plan(situation('Gone'), status, later(paceMilliseconds)).due.map(({ kind }) => kind)).toEqual([
      'Comment',
      'DeploymentStatus',
    ])
  })
})

const hourLater = 3_600_000

describe('deployments of earlier commits', () => {
  test('one that runs stays until the next one runs; one that never ran ends at once', () => {
    const running = accepted(situation('Running', commit(1)), {}, now)
    const building = accepted(situation('Building', commit(2)), running, later(10_000))
    expect(building).toMatchObject({ servingDeployment: 1 })
    expect(plan(situation('Building', commit(2)), building, later(20_000)).due).toEqual([])
    const third = accepted(situation('Building', commit(3)), building, later(20_000))
    expect(third).toMatchObject({ servingDeployment: 1, formerDeployments: [2] })
    expect(plan(situation('Running', commit(3)), third, later(30_000)).due.map(({ kind }) => kind)).toContain('FormerDeployment')
  })
})

/** A life of changes, with GitHub failing now and then. */
const phases = fc.constantFrom<Phase>(
  'Waiting',
  'WaitingForApproval',
  'LeftOut',
  'Building',
  'Running',
  'Failed',
  'Conflict',
  'Paused',
)
type Step = {
  readonly phase: Phase
  readonly commit: number
  readonly after: number
  readonly isRelaxed: boolean
  /** How many of the due writes GitHub answers before it fails. */
  readonly accepts: number
  readonly refuses: boolean
}
const step: fc.Arbitrary<Step> = fc.record({
  phase: phases,
  commit: fc.integer({ min: 1, max: 4 }),
  after: fc.integer({ min: 0, max: 15_000 }),
  isRelaxed: fc.boolean(),
  accepts: fc.integer({ min: 0, max: 5 }),
  refuses: fc.boolean(),
})

/** A report and the times at which each kind of write was sent. */
function createLife() {
  const sent = new Map<string, number>()
  let at = now.getTime()
  let status: ReportStatus = {}
  const run = (present: Situation, { accepts, isRelaxed, refuses }: Pick<Step, 'accepts' | 'isRelaxed' | 'refuses'>) => {
    const desired = desiredAnswers(present, context)
    const plan = decideWrites({ desired, status, now: new Date(at), isRelaxed })
    status = withIntended(status, plan.due, { desired, now: new Date(at) })
    for (const { kind } of plan.due) {
      expect(at - (sent.get(kind) ?? Number.NEGATIVE_INFINITY)).toBeGreaterThanOrEqual(paceMilliseconds)
      sent.set(kind, at)
    }
    for (const one of plan.due.slice(0, accepts))
      status = refuses ? withRefused(status, one, 'no') : afterWrite(status, one, desired)
    return plan
  }
  const wait = (milliseconds: number): void => {
    at += milliseconds
  }
  return { run, wait, status: () => status }
}

test('no kind is written twice in ten seconds, and the last state arrives when GitHub answers again', () => {
  const lasts = fc.constantFrom<Phase>('Running', 'Failed', 'Gone', 'LeftOut')
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), lasts, (steps, last) => {
      const life = createLife()
      for (const one of steps) {
        life.wait(one.after)
        life.run(situation(one.phase, commit(one.commit)), one)
      }
      // Of another commit: what GitHub refused is tried again with it.
      const end = situation(last, commit(9))
      const answers = { accepts: 5, isRelaxed: true, refuses: false }
      let plan = life.run(end, answers)
      // What was refused is settled, and tried again when it is due.
      for (let rounds = 0; !(plan.isSettled && plan.due.length === 0) && rounds < 60; rounds++) {
        life.wait(Math.max(1, plan.requeueAfterMilliseconds ?? 1))
        plan = life.run(end, answers)
      }
      expect(plan.isSettled).toBe(true)
      const desired = desiredAnswers(end, context)
      const status = life.status()
      const written = (kind: 'Comment' | 'CommitStatus' | 'Deployment') => recordOf(status, kind)?.written
      if (desired.commitStatus) expect(written('CommitStatus')).toBe(desired.commitStatus.hash)
      if (desired.deployment) expect(written('Deployment')).toBe(desired.deployment.hash)
      if (desired.comment?.content.mayCreate) expect(written('Comment')).toBe(desired.comment.hash)
      if (last !== 'Failed') expect(endingDeployments(status, desired)).toEqual([])
    }),
  )
})
