// Why a pod of an Application does not become ready: the reason and the cure, for the Application's author. Pure.
import { applicationReasons } from '../../../api/apps/application.ts'
import type { ContainerStatus, Pod } from '../../../api/builtin/index.ts'
import { labels } from '../../../api/names.ts'
import { redactTokens } from '../../../lib/log.ts'
import type { Refusal } from '../../../policy/check.ts'
import { lastWords } from './last-words.ts'
import { launcherProblem, startProblem } from './start-problem.ts'

type Exit = { readonly exitCode: number; readonly reason?: string; readonly message?: string }

const pullFailures: ReadonlySet<string> = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
  'ErrImageNeverPull',
  'RegistryUnavailable',
])
/** What containerd says of an answer 401 or 403, and of a token server that refuses. */
const asksForCredential = /unauthorized|failed to authorize|authorization failed|pull access denied|forbidden|\b40[13]\b/i
/** Waiting reasons of a container that is still starting. */
const starting: ReadonlySet<string> = new Set(['', 'ContainerCreating', 'PodInitializing'])

function bounded(text: string): string {
  return redactTokens(text.replaceAll(/\s+/g, ' ')).slice(0, 300)
}

/** The kubelet alternates between two messages for one failure, both with the image: one text for both, so that the status does not change. */
function pullProblem(
  image: string,
  { reason = '', message = '' }: { readonly reason?: string; readonly message?: string },
): Refusal {
  const said = message.replace(/^Back-off pulling image "[^"]*"(: \w+: )?/, '').replace(/^rpc error: code = \w+ desc = /, '')
  const cause = bounded(said === '' ? reason : said.replaceAll(`"${image}"`, 'the image').replaceAll(image, 'the image'))
  const cure = asksForCredential.test(cause)
    ? 'check spec.image; for a private image name a Secret that may pull it in spec.imagePullSecrets'
    : 'check spec.image and that the registry has it'
  return { reason: applicationReasons.imagePullFailed, message: `image ${image} cannot be pulled (${cause}): ${cure}` }
}

function exitProblem(
  { metadata, spec }: Pod,
  { name, restartCount }: ContainerStatus,
  { exitCode, reason, message }: Exit,
): Refusal {
  const command = spec?.containers.find(container => container.name === name)?.command
  const unknown = launcherProblem(name, command, exitCode)
  if (unknown !== undefined) return unknown
  const logs = `kubectl logs -n ${metadata.namespace} ${metadata.name} -c ${name} --previous`
  const words = lastWords(message)
  const why = words === undefined ? '' : ` (${words})`
  const exit = `process ${name} exits with code ${exitCode} after ${restartCount} restarts${why}: see ${logs}`
  const memory = `process ${name} ran out of memory: raise its memory in spec.processes`
  return { reason: applicationReasons.crashing, message: reason === 'OOMKilled' ? memory : exit }
}

function containerProblem(pod: Pod, container: ContainerStatus): Refusal | undefined {
  const { waiting, terminated } = container.state ?? {}
  const last = terminated ?? container.lastState?.terminated
  if (waiting && pullFailures.has(waiting.reason ?? '')) return pullProblem(container.image, waiting)
  if (container.ready) return undefined
  const said = [waiting, last].flatMap(state => state?.message ?? []).join(' ')
  const start = startProblem(container.name, redactTokens(said))
  if (start !== undefined) return start
  const hasExited = terminated !== undefined || waiting?.reason === 'CrashLoopBackOff' || container.restartCount > 0
  if (last && hasExited) return exitProblem(pod, container, last)
  if (waiting && !starting.has(waiting.reason ?? '')) {
    const message = `process ${container.name} cannot start: ${waiting.reason}: ${bounded(waiting.message ?? '')}`
    return { reason: applicationReasons.rolloutStalled, message }
  }
  return undefined
}

function schedulingProblem(pod: Pod): Refusal | undefined {
  const scheduled = pod.status?.conditions?.find(condition => condition.type === 'PodScheduled')
  if (scheduled?.status !== 'False') return undefined
  if (/persistent ?volume/i.test(scheduled.message ?? '')) {
    const claims = `kubectl describe pvc -n ${pod.metadata.namespace} -l ${labels.application}=${pod.metadata.labels?.[labels.application]}`
    const message = `a pod waits for a volume (${bounded(scheduled.message ?? '')}): see ${claims}, and size and storageClass in spec.volumes`
    return { reason: applicationReasons.volumePending, message }
  }
  return {
    reason: applicationReasons.rolloutStalled,
    message: 'no node has room for a pod: lower cpu or memory in spec.processes, or add nodes',
  }
}

/** The problem of the newest pod that has one. Ignores pods that are being deleted. */
export function podProblem(pods: readonly Pod[]): Refusal | undefined {
  const newestFirst = pods
    .filter(pod => pod.metadata.deletionTimestamp === undefined)
    .sort((a, b) => ((a.metadata.creationTimestamp ?? '') < (b.metadata.creationTimestamp ?? '') ? 1 : -1))
  for (const pod of newestFirst) {
    const statuses = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])]
    const problem =
      statuses.map(status => containerProblem(pod, status)).find(found => found !== undefined) ?? schedulingProblem(pod)
    if (problem) return problem
  }
  return undefined
}

/** The part of a pod that determines its problem: other updates of a pod do not wake the Application. */
export function problemFields(pod: Pod): unknown {
  const statuses = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])]
  const running = statuses.map(({ ready, state }) => [ready, state?.running?.startedAt])
  const problems = [...statuses.map(status => containerProblem(pod, status)), schedulingProblem(pod)]
  return { deleted: pod.metadata.deletionTimestamp, running, problems }
}
