// What GitHub shows after a life with lost answers and crashes between any two steps: one comment, one deployment of each
// commit, and the last state of each. GitHub is a model of what it keeps.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { githubReasons, type ReportClient } from '../../github/index.ts'
import { AppError } from '../../lib/errors.ts'
import { commitsOfOthers } from './answer/commit-owner.ts'
import { commitSentences, desiredAnswers } from './answer/desired.ts'
import type { Phase, Situation } from './answer/situation.ts'
import { decideWrites, type ReportStatus } from './decide.ts'
import { withIntended, withoutStatusOf } from './records.ts'
import { reportContext } from './testing/report-context.ts'
import { send } from './write.ts'

const repository = 4001
const pullRequest = 1
const start = Date.parse('2026-01-01T00:00:00Z')
const commit = (digit: number) => String(digit).repeat(40)
const situation = (phase: Phase, about: number): Situation => ({
  phase,
  commit: phase === 'Gone' ? undefined : commit(about),
  since: new Date(start).toISOString(),
  url: phase === 'Running' ? 'https://pr-1.example.test' : undefined,
  build: undefined,
  reason: undefined,
  message: undefined,
  exists: !['Gone', 'LeftOut', 'WaitingForApproval'].includes(phase),
  isUnapproved: phase === 'WaitingForApproval',
})

/** `lost`: done, without an answer; `down`: not done. */
type Answer = 'answers' | 'lost' | 'down'

/** What GitHub keeps. The script says how it answers to each write; then it answers always. */
function createModel(script: readonly Answer[]) {
  const left = [...script]
  const comments = new Map<number, string>()
  const deployments: (Parameters<ReportClient['createDeployment']>[1] & { readonly id: number; readonly states: string[] })[] = []
  const statuses: {
    readonly commit: string
    readonly state: string
    readonly description: string
    readonly targetUrl: string
  }[] = []
  let ids = 0
  const write = <T>(act: () => T): Promise<T> => {
    const answer = left.shift() ?? 'answers'
    const result = answer === 'down' ? undefined : act()
    if (answer === 'answers') return Promise.resolve(result as T)
    return Promise.reject(new AppError('unavailable', 'GitHub does not answer'))
  }
  type Shown = Awaited<ReturnType<ReportClient['findDeploymentStatus']>>
  const reports = new Map<string, Shown>()
  const client: ReportClient = {
    findComment: async () => [...comments.keys()][0],
    createComment: (_repository, _number, body) =>
      write(() => {
        ids += 1
        comments.set(ids, body)
        return ids
      }),
    editComment: (_repository, id, body) => write(() => comments.has(id) && comments.set(id, body) !== undefined),
    findDeployment: async (_repository, { commit: sha, environment, task, marker }) =>
      deployments.findLast(
        one => one.commit === sha && one.environment === environment && one.task === task && one.marker === marker,
      )?.id,
    createDeployment: (_repository, of) =>
      write(() => {
        ids += 1
        deployments.push({ ...of, id: ids, states: [] })
        return ids
      }),
    findDeploymentStatus: async (_repository, id) =>
      reports.get(`${id}/${deployments.find(one => one.id === id)?.states.length}`),
    createDeploymentStatus: (_repository, id, { endsOthers, ...report }) =>
      write(() => {
        expect(endsOthers).toBe(false)
        const states = deployments.find(one => one.id === id)?.states
        states?.push(report.state)
        reports.set(`${id}/${states?.length}`, report)
        return states !== undefined
      }),
    findCommitStatus: async (_repository, about, statusContext) => {
      const shown = statuses.findLast(one => one.commit === about)
      if (shown === undefined) return undefined
      const { commit: _commit, ...report } = shown
      return { ...report, context: statusContext }
    },
    createCommitStatus: (_repository, about, { state, description, targetUrl }) =>
      write(() => void statuses.push({ commit: about, state, description, targetUrl })),
  }
  return { client, comments, deployments, statuses }
}

/**
 * Of a preview of `pull`. A report, kept as reconcile.ts keeps it: what is intended always, what was answered unless the
 * process ended before.
 */
function createLife({ client }: Pick<ReturnType<typeof createModel>, 'client'>, pull = pullRequest) {
  const context = { ...reportContext(`shop-pr-${pull}`), pullRequest: pull, marker: String(pull).repeat(32) }
  let status: ReportStatus = {}
  let newest: string | undefined
  let at = start
  type Run = { readonly isLast?: boolean; readonly othersCommits?: readonly string[] }
  async function run(
    present: Situation,
    crashes: boolean,
    { isLast = false, othersCommits = [] }: Run = {},
  ): Promise<ReturnType<typeof decideWrites>> {
    status = withoutStatusOf(status, othersCommits)
    const { pendingCommit } = status
    const written = { ...context, pendingCommit, othersCommits }
    const desired = desiredAnswers(present, written)
    const { commitStatus } = desired
    if (commitStatus?.content.onlyPending === false)
      newest = commitStatus.content.state === 'pending' || isLast ? commitStatus.content.commit : undefined
    const plan = decideWrites({ desired, status, now: new Date(at), isRelaxed: true })
    const intended = withIntended(status, plan.due, { desired, now: new Date(at) })
    const target = { client, repositoryId: repository, pullRequest: pull, desired, context: written }
    let after = intended
    try {
      for (const one of plan.due) after = await send(target, after, one)
    } catch (error) {
      expect(error).toMatchObject({ code: 'unavailable' })
    }
    status = crashes ? intended : after
    return plan
  }
  return {
    run,
    wait(milliseconds: number) {
      at += milliseconds
    },
    newest: () => newest,
  }
}

const step = fc.record({
  phase: fc.constantFrom<Phase>('Waiting', 'WaitingForApproval', 'Building', 'Running', 'Failed', 'Paused'),
  commit: fc.integer({ min: 1, max: 3 }),
  crashes: fc.boolean(),
  deletesComment: fc.boolean(),
})
const answers = fc.array(fc.constantFrom<Answer>('answers', 'answers', 'lost', 'down'), { maxLength: 40 })
const last = fc.constantFrom<Phase>('Running', 'Failed', 'Gone')

type Model = ReturnType<typeof createModel>
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

/** Resolves when all of the last state is written. */
async function settle(life: ReturnType<typeof createLife>, end: Situation, othersCommits: readonly string[] = []): Promise<void> {
  const how = { isLast: true, othersCommits }
  let plan = await life.run(end, false, how)
  for (let rounds = 0; !plan.isSettled && rounds < 60; rounds++) {
    life.wait(Math.max(1, plan.requeueAfterMilliseconds ?? 1))
    plan = await life.run(end, false, how)
  }
  expect(plan.isSettled).toBe(true)
}

/**
 * Lives through the steps, and then in the last state until all is written. Resolves to the commit whose status must be decided
 * then, if any.
 */
async function live(model: Model, steps: readonly Step[], end: Situation): Promise<string | undefined> {
  const life = createLife(model)
  for (const one of steps) {
    if (one.deletesComment) model.comments.clear()
    await life.run(situation(one.phase, one.commit), one.crashes)
    life.wait(10_000)
  }
  await settle(life, end)
  return life.newest()
}

function expectDeployments({ deployments }: Model, phase: Phase): void {
  const shown = new Map(deployments.map(one => [one.commit, one.states.at(-1)]))
  expect(shown.size).toBe(deployments.length)
  if (phase !== 'Gone') {
    expect(shown.get(commit(2))).toBe(phase === 'Running' ? 'success' : 'failure')
    shown.delete(commit(2))
  }
  // While the newest commit has failed, an earlier one may run.
  const ended = phase === 'Failed' ? ['inactive', 'failure', 'success'] : ['inactive', 'failure']
  for (const state of shown.values()) expect(ended).toContain(state)
}

/** Earlier commits keep what they had; the newest one is decided, and only what was pending has ended before it ran. */
function expectStatuses({ statuses }: Model, newest: string | undefined): void {
  expect(statuses.findLast(one => one.commit === newest)?.state).not.toBe('pending')
  for (const history of Map.groupBy(statuses, one => one.commit).values()) {
    const ends = history.flatMap(({ state }, index) => (state === 'error' ? [index] : []))
    for (const index of ends) expect(history[index - 1]?.state).toBe('pending')
  }
}

test('nothing is there twice, and the last state stands everywhere, whatever answer was lost and whenever the process ended', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 8 }), answers, last, async (steps, script, phase) => {
      const model = createModel(script)
      const newest = await live(model, steps, situation(phase, 2))
      expect(model.comments.size).toBeLessThanOrEqual(1)
      // One that a person deleted comes back with the next state.
      const isKept = steps.every(({ deletesComment }) => !deletesComment)
      if (phase !== 'Gone' && isKept) expect(model.comments.size).toBe(1)
      expectDeployments(model, phase)
      expectStatuses(model, newest)
    }),
    { numRuns: 1_000 },
  )
})

test('previews of one commit share an environment, and neither takes, ends or makes again the deployment of the other', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 8 }), answers, async (steps, script) => {
      const model = createModel(script)
      const [one, other] = [createLife(model, 1), createLife(model, 2)]
      for (const { phase, crashes } of steps)
        for (const life of [one, other]) {
          await life.run(situation(phase, 1), crashes)
          life.wait(10_000)
        }
      await settle(one, situation('Running', 1))
      await settle(other, situation('Gone', 1))
      const shown = Object.fromEntries(model.deployments.map(({ task, states }) => [task, states.at(-1)]))
      expect(Object.keys(shown)).toHaveLength(model.deployments.length)
      expect(new Set(model.deployments.map(({ environment }) => environment)).size).toBe(1)
      expect(shown['deploy:sekisho:shop-pr-1']).toBe('success')
      expect(['inactive', 'failure', undefined]).toContain(shown['deploy:sekisho:shop-pr-2'])
    }),
    { numRuns: 300 },
  )
})

test('the status of a commit that two previews have is the last one of the preview that was opened first, and never an end of the other', async () => {
  const ends = fc.constantFrom<Phase>('WaitingForApproval', 'Running', 'Failed', 'Gone')
  const pair = fc.record({ first: step, second: step })
  await fc.assert(
    fc.asyncProperty(fc.array(pair, { maxLength: 8 }), answers, ends, ends, async (steps, script, first, second) => {
      const model = createModel(script)
      const lives = [createLife(model, 1), createLife(model, 2)]
      const others = (phases: readonly Phase[], index: number): readonly string[] =>
        commitsOfOthers(
          phases.flatMap((state, at) =>
            state === 'Gone' ? [] : [{ number: at + 1, headCommit: commit(1), state: state as never }],
          ),
          index + 1,
        )
      for (const { first: one, second: other } of steps) {
        const phases = [one.phase, other.phase]
        for (const [index, life] of lives.entries()) {
          await life.run(situation(phases[index] ?? 'Gone', 1), [one, other][index]?.crashes ?? false, {
            othersCommits: others(phases, index),
          })
          life.wait(10_000)
        }
      }
      const phases = [first, second]
      // Whichever is reconciled first, what holds in the end is the same.
      for (const [index, life] of [...lives.entries()].toSorted(([a], [b]) => (steps.length % 2 === 0 ? a - b : b - a)))
        await settle(life, situation(phases[index] ?? 'Gone', 1), others(phases, index))
      const owner = phases.find(phase => commitSentences[phase] !== undefined)
      const shown = model.statuses.findLast(one => one.commit === commit(1))?.state
      if (owner !== undefined) expect(shown).toBe(commitSentences[owner]?.[0])
      else expect(shown).not.toBe('pending')
    }),
    { numRuns: 500 },
  )
})

const suspended = (): Promise<never> =>
  Promise.reject(new AppError('forbidden', 'the installation is suspended', { reason: githubReasons.suspended }))

test('what an App that is suspended may not write is no refusal: it stays due, and is written once after the suspension', async () => {
  const model = createModel([])
  const { client } = model
  let isSuspended = true
  const guarded: ReportClient = {
    findComment: (...of) => (isSuspended ? suspended() : client.findComment(...of)),
    createComment: (...of) => (isSuspended ? suspended() : client.createComment(...of)),
    editComment: (...of) => (isSuspended ? suspended() : client.editComment(...of)),
    findDeployment: (...of) => (isSuspended ? suspended() : client.findDeployment(...of)),
    createDeployment: (...of) => (isSuspended ? suspended() : client.createDeployment(...of)),
    findDeploymentStatus: (...of) => (isSuspended ? suspended() : client.findDeploymentStatus(...of)),
    createDeploymentStatus: (...of) => (isSuspended ? suspended() : client.createDeploymentStatus(...of)),
    findCommitStatus: (...of) => (isSuspended ? suspended() : client.findCommitStatus(...of)),
    createCommitStatus: (...of) => (isSuspended ? suspended() : client.createCommitStatus(...of)),
  }
  const context = reportContext('shop-pr-1')
  const desired = desiredAnswers(situation('Running', 1), context)
  const target = { client: guarded, repositoryId: repository, pullRequest, desired, context }
  const planAt = (status: ReportStatus, at: number) => decideWrites({ desired, status, now: new Date(at), isRelaxed: true })
  const first = planAt({}, start)
  const intended = withIntended({}, first.due, { desired, now: new Date(start) })
  expect(first.due.map(({ kind }) => kind)).toContain('Comment')
  for (const due of first.due.filter(({ kind }) => kind !== 'DeploymentStatus'))
    await expect(send(target, intended, due), due.kind).rejects.toMatchObject({ reason: githubReasons.suspended })
  expect([model.comments.size, model.deployments.length, model.statuses.length]).toEqual([0, 0, 0])

  isSuspended = false
  let status = intended
  for (let at = start; !planAt(status, at).isSettled && at < start + 600_000; at += 10_000)
    for (const due of planAt(status, at).due) status = await send(target, status, due)
  expect(JSON.stringify(status)).not.toContain('"refused"')
  expect([model.comments.size, model.deployments.map(({ states }) => states)]).toEqual([1, [['success']]])
  expect(model.statuses.map(({ state }) => state)).toEqual(['success'])
})
