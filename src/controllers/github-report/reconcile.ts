// Keeps what GitHub shows equal to what a preview or RemoteSync is in. The only file that writes: GitHubReports, and GitHub
// through write.ts. Each run starts from what the report says was written; what is intended stands there before GitHub is
// asked, so that the next run after a crash looks it up.

import {
  type GitHubReport,
  type ReportWriteKind,
  githubReportReasons as reasons,
  githubReport as reports,
} from '../../api/apps/github-report.ts'
import type { ReportClient } from '../../github/index.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import { isKubeError } from '../../kube/client/errors.ts'
import { done, type Outcome, type ReconcileContext, requeueAfter } from '../../kube/controller/controller.ts'
import { ownerReference, uidOf } from '../../kube/object/owner.ts'
import { type AppError, isAppError } from '../../lib/errors.ts'
import { sameJson } from '../../lib/json/same-json.ts'
import { isPaced } from '../kit/github-unreachable.ts'
import type { Refusal } from '../kit/refusal.ts'
import { type AccessDeps, accessOnce, planOwnedGrant, type RepositoryAccess } from '../kit/repository/owned-grant.ts'
import { requeueAfterSoonest } from '../kit/soonest.ts'
import type { StatusWriter } from '../kit/status-writer.ts'
import { type Desired, desiredAnswers, type ReportContext } from './answer/desired.ts'
import { isWorthTelling } from './answer/situation.ts'
import { type DueWrite, decideWrites, isAboutStranger, type ReportStatus } from './decide.ts'
import { type Facts, type GatherDeps, gather, withoutSecrets } from './gather.ts'
import { installationText } from './names.ts'
import type { WriteQueue } from './pace/write-queue.ts'
import { nextStatus, withIntended, withoutStatusOf } from './records.ts'
import type { Subject } from './subject.ts'
import { send } from './write.ts'

export type ReportDeps = GatherDeps &
  AccessDeps & {
    readonly client: Pick<KubeClient, 'get' | 'create' | 'delete'>
    readonly status: StatusWriter<GitHubReport>
    readonly queue: WriteQueue
    /** A client with the token of this run. `app` is the name of the ClusterGitHubApp. */
    readonly openReports: (access: RepositoryAccess, app: string) => Promise<ReportClient>
  }

export const fieldManager = 'sekisho.dev/github-report'
const actor = 'sekisho:github-report'

/** What people read. They come first in the order of kinds. */
const urgentKinds: ReadonlySet<ReportWriteKind> = new Set(['Comment', 'CommitStatus'])

type Run = {
  readonly deps: ReportDeps
  readonly report: GitHubReport
  readonly subject: Subject
  readonly facts: Facts
  readonly desired: Desired
  readonly context: ReportContext
}

/** A report that cannot be continued: what it is about ended or changed, or does not want to be reported on. */
function isObsolete(report: GitHubReport, subject: Subject | undefined): boolean {
  return subject === undefined || !sameJson(report.spec, subject.identity)
}

async function remove({ client, queue }: ReportDeps, report: GitHubReport, installation: string): Promise<void> {
  const { namespace = '', name } = report.metadata
  queue.leave(installation, reportKey(report))
  await client.delete(reports, { namespace, name }, { uid: uidOf(report) })
}

function reportKey({ metadata }: GitHubReport): string {
  return `${metadata.namespace}/${metadata.name}`
}

/** Empty when there is none (any more): nothing can be written then. */
function installationOf({ installation }: Facts): string {
  return installation === undefined ? '' : installationText(installation.spec)
}

/** The report, or undefined when there is nothing to say yet. */
async function ensureReport(
  { client }: ReportDeps,
  facts: Facts,
  key: ReconcileContext['key'],
): Promise<GitHubReport | undefined> {
  const { report, subject } = facts
  if (report !== undefined) return report
  const { situation, follower, identity } = subject ?? {}
  if (follower === undefined || identity === undefined || situation === undefined || !isWorthTelling(situation)) return undefined
  const metadata = { ...key, ownerReferences: [ownerReference(follower, { controller: true })] }
  try {
    return await client.create(
      reports,
      { apiVersion: reports.apiVersion, kind: reports.kind, metadata, spec: identity },
      { fieldManager },
    )
  } catch (error) {
    // The cache is behind: the report wakes itself when the cache shows it.
    if (isKubeError(error, 409)) return undefined
    throw error
  }
}

async function save({ deps, report }: Run, status: ReportStatus, hindrance: Refusal | undefined): Promise<GitHubReport> {
  return deps.status.write(report, nextStatus(report, status, hindrance, deps.clock.now()))
}

/** @throws what the API server, the token desk or GitHub answered where a retry may help */
export async function reconcileGitHubReport(deps: ReportDeps, { key }: Pick<ReconcileContext, 'key'>): Promise<Outcome> {
  const facts = gather(deps, key, deps.status.latest)
  const report = await ensureReport(deps, facts, key)
  if (report === undefined || report.metadata.deletionTimestamp !== undefined) return done
  const { subject } = facts
  if (subject === undefined || isObsolete(report, subject)) {
    await remove(deps, report, installationOf(facts))
    return done
  }
  const situation = await withoutSecrets(deps.client, subject)
  if (situation === undefined) return done
  const status = withoutStatusOf(report.status ?? {}, subject.context.othersCommits)
  const context: ReportContext = { ...subject.context, pendingCommit: status.pendingCommit }
  const desired = desiredAnswers(situation, context)
  return advance({ deps, report, subject, facts, desired, context }, status)
}

async function advance(run: Run, status: ReportStatus): Promise<Outcome> {
  const { deps, report, desired, facts } = run
  const installation = installationOf(facts)
  const plan = decideWrites({ desired, status, now: facts.now, isRelaxed: deps.queue.isRelaxed(installation) })
  if (plan.due.length > 0) return take(run, status, plan.due)
  deps.queue.leave(installation, reportKey(report))
  if (plan.isSettled && desired.isEnd) {
    await remove(deps, report, installation)
    return done
  }
  await save(run, status, plan.isSettled ? undefined : waiting)
  return requeueAfterSoonest(plan.requeueAfterMilliseconds)
}

/** Writes when it is the report's turn, under the grant of what it follows. */
async function take(run: Run, status: ReportStatus, due: readonly DueWrite[]): Promise<Outcome> {
  const { deps, report, facts, subject } = run
  const { follower } = subject
  const grant = planOwnedGrant(follower, facts.grant, facts.now)
  if (grant.kind !== 'use') return withoutGrant(run, status, grant.message)
  const installation = installationOf(facts)
  const urgent = due.filter(({ kind }) => urgentKinds.has(kind)).length
  const isUnapproved = isAboutStranger(run.desired, status)
  const turn = deps.queue.take({ installation, key: reportKey(report), wanted: due.length, urgent, isUnapproved })
  if (turn.kind === 'wait') {
    await save(run, status, turn.isPaused ? limited : waiting)
    return requeueAfter(turn.milliseconds)
  }
  const app = facts.installation?.spec.app ?? ''
  const access = accessOnce(deps, { owner: follower, grant: grant.grant, app, actor })
  let client: ReportClient
  try {
    client = await deps.openReports(await access(), app)
  } catch (error) {
    const isRefused = isAppError(error) && ['forbidden', 'not_found', 'conflict'].includes(error.code)
    return isRefused ? withoutGrant(run, status, error.message) : failed(run, status, error)
  }
  return write(run, client, status, due.slice(0, turn.writes))
}

const waiting: Refusal = { reason: reasons.writing, message: 'the present state waits for its turn to be written' }
const limited: Refusal = { reason: reasons.rateLimited, message: 'GitHub asked the installation to wait' }

/** Without a grant nothing can be written, and nothing will be when its owner is being deleted. */
async function withoutGrant(run: Run, status: ReportStatus, message: string): Promise<Outcome> {
  const { deps, report, subject, facts } = run
  deps.queue.leave(installationOf(facts), reportKey(report))
  if (subject.follower.metadata.deletionTimestamp !== undefined) {
    await remove(deps, report, installationOf(facts))
    return done
  }
  await save(run, status, { reason: reasons.waitingForGrant, message })
  return done
}

async function write(before: Run, client: ReportClient, known: ReportStatus, due: readonly DueWrite[]): Promise<Outcome> {
  const { deps, desired, context, subject, facts } = before
  const { repositoryId, pullRequest } = subject.identity
  const target = { client, repositoryId, pullRequest, desired, context }
  let status = withIntended(known, due, { desired, now: deps.clock.now() })
  const run = { ...before, report: await save(before, status, waiting) }
  try {
    for (const one of due) status = await send(target, status, one)
  } catch (error) {
    // GitHub limits the installation, and not this report alone.
    if (isAppError(error, 'too_many_requests')) deps.queue.pause(installationOf(facts), waitOf(error))
    return failed(run, status, error)
  }
  const isRelaxed = deps.queue.isRelaxed(installationOf(facts))
  const next = decideWrites({ desired, status, now: deps.clock.now(), isRelaxed })
  const saved = await save(run, status, next.isSettled ? undefined : waiting)
  if (next.isSettled && desired.isEnd) await remove(deps, saved, installationOf(facts))
  if (next.isSettled) return done
  return requeueAfter(next.due.length > 0 ? 1 : (next.requeueAfterMilliseconds ?? 1))
}

function waitOf({ retryAfterSeconds = 60 }: AppError): number {
  return retryAfterSeconds * 1000
}

/** What was sent before the failure is kept. A limit names its end; everything else is retried with growing waits. */
async function failed(run: Run, status: ReportStatus, error: unknown): Promise<Outcome> {
  if (!isAppError(error)) throw error
  const message = error.message.slice(0, 500)
  const isLimited = isAppError(error, 'too_many_requests')
  const reason = isPaced(error) ? reasons.paced : isLimited ? reasons.rateLimited : reasons.unreachable
  await save(run, status, { reason, message })
  if (isLimited) return requeueAfter(waitOf(error))
  throw error
}
