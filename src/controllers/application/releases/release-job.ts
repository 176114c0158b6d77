// The release job: the Job that runs once for each release, with its image and environment, before the release is rolled out.
// Its pod is that of the process `web` with another command: so it has what the chart gives to processes, and the same
// security. Pure.
// Source: https://kubernetes.io/docs/concepts/workloads/controllers/job/
import { type Application, applicationReasons as reasons } from '../../../api/apps/application.ts'
import { deployments, type Job, jobs, type Pod } from '../../../api/builtin/index.ts'
import { labels } from '../../../api/names.ts'
import { literalWords, unliteral } from '../../../api/pods/literal.ts'
import { isOf } from '../../../api/resource.ts'
import type { NewObject } from '../../../kube/client/client.ts'
import { ownerReference } from '../../../kube/object/owner.ts'
import { defined } from '../../../lib/json/defined.ts'
import { isJsonObject, type JsonObject, listAt, objectAt, objectsAt, textAt } from '../../../lib/json/json-value.ts'
import { redactedTail } from '../../../lib/log.ts'
import { boundedName } from '../../../lib/text/bounded-name.ts'
import type { Refusal } from '../../../policy/check.ts'
import { folderVariable } from '../image/contents.ts'
import type { Manifest } from '../rendering/desired.ts'
import { isolationLabels } from '../rendering/isolation.ts'

/** What the status records of it. */
export type JobRecord = NonNullable<NonNullable<Application['status']>['releaseJob']>

/** The name of a Job becomes a label of its pods, which has at most 63 characters. */
const maxName = 63
/** Beside the deadline of the pod, which keeps its log: for a pod that no node takes. */
const schedulingSeconds = 60
/** A week: the log of the last release job can be read that long. */
const keptSeconds = 604_800

/** `<application>-release-v<number>`; a hash replaces the end of a name that is too long. */
export function jobName(application: string, number: number): string {
  const suffix = `-release-v${number}`
  return `${boundedName(application, maxName - suffix.length, { length: 8 })}${suffix}`
}

/** A volume claim can be held by a running pod on another node, so the job does without. */
function volumesFor(spec: JsonObject): readonly JsonObject[] {
  return objectsAt(spec, 'volumes').filter(volume => volume['persistentVolumeClaim'] === undefined)
}

const podFields = [
  'automountServiceAccountToken',
  'enableServiceLinks',
  'imagePullSecrets',
  'securityContext',
  'serviceAccountName',
]
const containerFields = ['image', 'imagePullPolicy', 'env', 'envFrom', 'resources', 'securityContext', 'workingDir']

/** Where commands start: the launcher of buildpacks reads it from the environment, and this command runs without the launcher. */
function placeOf(container: JsonObject): { readonly workingDir?: string } {
  const told = objectsAt(container, 'env').find(({ name }) => name === folderVariable)
  const folder = told === undefined ? undefined : textAt(told, 'value')
  return folder === undefined ? {} : { workingDir: unliteral(folder) }
}

function pick(object: JsonObject, fields: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([field]) => fields.includes(field)))
}

function podSpec(template: JsonObject, job: NonNullable<Application['spec']['releaseJob']>): JsonObject | undefined {
  const spec = objectAt(template, 'spec')
  const container = spec && listAt(spec, 'containers').find(isJsonObject)
  if (!spec || !container) return undefined
  const volumes = volumesFor(spec)
  const names = volumes.map(({ name }) => name)
  return {
    ...pick(spec, podFields),
    restartPolicy: 'Never',
    activeDeadlineSeconds: job.timeoutSeconds,
    volumes,
    containers: [
      {
        ...placeOf(container),
        ...pick(container, containerFields),
        name: 'release',
        command: literalWords(job.command),
        ...defined({ args: job.args && literalWords(job.args) }),
        volumeMounts: objectsAt(container, 'volumeMounts').filter(({ name }) => names.includes(name)),
        // The end of the log becomes part of the pod's status, so nobody needs a right to read logs.
        terminationMessagePolicy: 'FallbackToLogsOnError',
      },
    ],
  }
}

/** The Job of the release that rendered these manifests; undefined when the chart renders no Deployment. */
export function desiredJob(application: Application, number: number, manifests: readonly Manifest[]): NewObject<Job> | undefined {
  const { releaseJob: job } = application.spec
  const { name, namespace = '' } = application.metadata
  const candidates = manifests.filter(manifest => isOf(deployments, manifest))
  const web = candidates.find(({ metadata }) => metadata.labels[labels.process] === 'web') ?? candidates[0]
  const template = web && objectAt(web, 'spec', 'template')
  const spec = template && job && podSpec(template, job)
  if (!spec || !job) return undefined
  const own = { [labels.application]: name, [labels.release]: String(number) }
  const annotations = objectAt(template, 'metadata', 'annotations')
  return {
    apiVersion: jobs.apiVersion,
    kind: jobs.kind,
    metadata: {
      name: jobName(name, number),
      namespace,
      labels: { ...own, [labels.managedBy]: 'sekisho' },
      ownerReferences: [ownerReference(application, { controller: true })],
    },
    spec: {
      backoffLimit: 0,
      activeDeadlineSeconds: job.timeoutSeconds + schedulingSeconds,
      ttlSecondsAfterFinished: keptSeconds,
      // Without the label of a process: neither a Service nor a Deployment selects the pod.
      template: {
        metadata: { labels: { ...own, ...isolationLabels(application.spec.isolated) }, ...(annotations ? { annotations } : {}) },
        spec,
      },
    } as unknown as NonNullable<Job['spec']>,
  }
}

/** The release of a Job that `desiredJob` made; undefined for other Jobs. */
export function releaseOfJob({ metadata }: Job): number | undefined {
  const number = Number(metadata.labels?.[labels.release])
  return Number.isInteger(number) && number > 0 ? number : undefined
}

function conditionOf(job: Job, type: string) {
  return job.status?.conditions?.find(condition => condition.type === type && condition.status === 'True')
}

/** Whether no pod of the Job runs or will run. */
export function hasEnded(job: Job): boolean {
  return conditionOf(job, 'Complete') !== undefined || conditionOf(job, 'Failed') !== undefined
}

/** The Jobs that ended before that of a later release began: only the last one is kept, with its log. */
export function surplusJobs(all: readonly Job[]): readonly Job[] {
  const last = Math.max(0, ...all.map(job => releaseOfJob(job) ?? 0))
  return all.filter(job => releaseOfJob(job) !== last && hasEnded(job))
}

const maxLogLines = 10
const maxLog = 900

/** The last lines, on one line of a message; what looks like a token is replaced. */
function logTail(text: string): string {
  return redactedTail(text.trimEnd().split('\n').slice(-maxLogLines).join('\n'), maxLog)
}

function terminatedOf(pod: Pod | undefined) {
  return pod?.status?.containerStatuses?.map(({ state }) => state?.terminated).find(terminated => terminated !== undefined)
}

function failureText(pod: Pod | undefined, timedOut: boolean, seconds: number | undefined): string {
  const terminated = terminatedOf(pod)
  const log = terminated?.message === undefined ? '' : `: ${logTail(terminated.message)}`
  if (timedOut) return `it did not end within ${seconds} seconds${log}`
  const cause = pod?.status?.containerStatuses?.map(({ state }) => state?.waiting?.reason).find(reason => reason !== undefined)
  if (terminated)
    return `it exited with code ${terminated.exitCode}${terminated.reason === 'OOMKilled' ? ' (out of memory)' : ''}${log}`
  return cause === undefined ? 'its pod ended without a result' : `its pod did not start (${cause})`
}

/** The time that its program has; `desiredJob` gives the Job more, because it also waits for its pod. */
function secondsOf({ spec }: Job): number | undefined {
  return spec?.activeDeadlineSeconds === undefined ? undefined : spec.activeDeadlineSeconds - schedulingSeconds
}

/** The state of a Job, from it and its pod; undefined while the pod's end, which has the log, is not known yet. */
export function jobOutcome(job: Job, pod: Pod | undefined): Pick<JobRecord, 'state' | 'message'> | undefined {
  if (conditionOf(job, 'Complete')) return { state: 'Succeeded' }
  const failed = conditionOf(job, 'Failed')
  if (!failed) return { state: 'Running' }
  const phase = pod?.status?.phase
  if (pod && pod.metadata.deletionTimestamp === undefined && phase !== 'Failed' && phase !== 'Succeeded') return undefined
  const timedOut = failed.reason === 'DeadlineExceeded' || pod?.status?.reason === 'DeadlineExceeded'
  return { state: timedOut ? 'TimedOut' : 'Failed', message: failureText(pod, timedOut, secondsOf(job)) }
}

/** Why a release with this job is not rolled out; undefined when it may be. */
export function jobHold(record: JobRecord, namespace: string): Refusal | undefined {
  const { release, state, name, message = '' } = record
  const logs = `kubectl logs -n ${namespace} job/${name}`
  switch (state) {
    case 'Succeeded':
      return undefined
    case 'Running':
      return { reason: reasons.releaseJobRunning, message: `the release job of release ${release} runs: see \`${logs}\`` }
    case 'Failed':
    case 'TimedOut': {
      const reason = state === 'Failed' ? reasons.releaseJobFailed : reasons.releaseJobTimedOut
      return { reason, message: `the release job of release ${release} failed: ${message}; its whole log: \`${logs}\`` }
    }
  }
}

/** What is known of release jobs. */
export type JobFacts = {
  /** The number of the newest release, whose job decides. */
  readonly newest: number
  readonly status: Application['status']
  /** Release jobs of the Application. */
  readonly jobs: readonly Job[]
  /** Pods of release jobs, by the name of their Job. */
  readonly podsOfJobs: ReadonlyMap<string, Pod>
  readonly now: Date
}

export type JobDecision =
  /** The release may be rolled out. */
  | { readonly kind: 'cleared'; readonly record: JobRecord | undefined }
  | { readonly kind: 'start' }
  /** It ran, but is not in the cache any more: only the API server knows. */
  | { readonly kind: 'ask'; readonly record: JobRecord }
  | { readonly kind: 'hold'; readonly record: JobRecord | undefined; readonly hold: Refusal }

function isOver({ state }: JobRecord): boolean {
  return state !== 'Running'
}

function held(record: JobRecord, namespace: string): JobDecision {
  const hold = jobHold(record, namespace)
  return hold ? { kind: 'hold', record, hold } : { kind: 'cleared', record }
}

/** The record as the Job and its pod say it now. */
function observedRecord(before: JobRecord, job: Job, { podsOfJobs, now }: JobFacts): JobRecord {
  const outcome = jobOutcome(job, podsOfJobs.get(job.metadata.name))
  return outcome === undefined || outcome.state === 'Running' ? before : { ...before, ...outcome, endedAt: now.toISOString() }
}

function withoutJob({ jobs: all, status }: JobFacts, own: JobRecord | undefined): JobDecision {
  if (own) return { kind: 'ask', record: own }
  const other = all.find(one => !hasEnded(one))
  if (!other) return { kind: 'start' }
  const message = `waits until the release job of release ${releaseOfJob(other)} has ended`
  return { kind: 'hold', record: status?.releaseJob, hold: { reason: reasons.releaseJobRunning, message } }
}

/**
 * Call for a release that has a job. A job that was started once is never started again: neither after its Job was deleted, nor
 * after a crash. Two release jobs of one Application never run at the same time.
 */
export function decideJob(facts: JobFacts, { metadata: { name, namespace = '' } }: Application): JobDecision {
  const { newest, status, jobs: all, now } = facts
  const record = status?.releaseJob
  const own = record?.release === newest ? record : undefined
  if (own && isOver(own)) return held(own, namespace)
  // It was rolled out before it had a job.
  if (status?.rollout?.release === newest || status?.release === newest) return { kind: 'cleared', record }
  const job = all.find(one => releaseOfJob(one) === newest)
  if (!job) return withoutJob(facts, own)
  const started: JobRecord = { release: newest, name: jobName(name, newest), state: 'Running', startedAt: now.toISOString() }
  return held(observedRecord(own ?? started, job, facts), namespace)
}

/** The record of a job that somebody deleted while it ran. */
export function deletedJob(record: JobRecord, now: Date): JobRecord {
  return { ...record, state: 'Failed', message: 'it was deleted before it ended', endedAt: now.toISOString() }
}
