// Why a pod of an Application does not become ready: the reason and the cure, for the Application's author. Pure.
import { redactTokens } from '../../lib/log.ts'
import { applicationReasons } from '../apps/application.ts'
import type { ContainerStatus, Pod } from '../builtin/index.ts'
import { labels } from '../names.ts'
import { lastWords } from './last-words.ts'
import { type PodProblem, problem } from './problem.ts'
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

/**
 * The kubelet alternates between two messages for one failure, both with the image: one text for both, so that the status does
 * not change.
 */
function pullProblem(
  image: string,
  { reason = '', message = '' }: { readonly reason?: string; readonly message?: string },
): PodProblem {
  const said = message.replace(/^Back-off pulling image "[^"]*"(: \w+: )?/, '').replace(/^rpc error: code = \w+ desc = /, '')
  const cause = bounded(said === '' ? reason : said.replaceAll(`"${image}"`, 'the image').replaceAll(image, 'the image'))
  const cure = asksForCredential.test(cause)
    ? 'check spec.image; for a private image name a Secret that may pull it in spec.imagePullSecrets'
    : 'check spec.image and that the registry has it'
  return problem(applicationReasons.imagePullFailed, `image ${image} cannot be pulled (${cause})`, cure)
}

function exitProblem(
  { metadata, spec }: Pod,
  { name, restartCount }: ContainerStatus,
  { exitCode, reason, message }: Exit,
): PodProblem {
  const command = spec?.containers.find(container => container.name === name)?.command
  const unknown = launcherProblem(name, command, exitCode)
  if (unknown !== undefined) return unknown
  const logs = `kubectl logs -n ${metadata.namespace} ${metadata.name} -c ${name} --previous`
  if (reason === 'OOMKilled')
    return problem(applicationReasons.crashing, `process ${name} ran out of memory`, 'raise its memory in spec.processes')
  const words = lastWords(message)
  const why = words === undefined ? '' : ` (${words})`
  const exit = `process ${name} exits with code ${exitCode} after ${restartCount} restarts${why}`
  return problem(applicationReasons.crashing, exit, `see ${logs}`)
}

function containerProblem(pod: Pod, container: ContainerStatus): PodProblem | undefined {
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
    const cause = `process ${container.name} cannot start: ${waiting.reason}: ${bounded(waiting.message ?? '')}`
    return problem(applicationReasons.rolloutStalled, cause)
  }
  return undefined
}

function schedulingProblem(pod: Pod): PodProblem | undefined {
  const scheduled = pod.status?.conditions?.find(condition => condition.type === 'PodScheduled')
  if (scheduled?.status !== 'False') return undefined
  if (/persistent ?volume/i.test(scheduled.message ?? '')) {
    const claims = `kubectl describe pvc -n ${pod.metadata.namespace} -l ${labels.application}=${pod.metadata.labels?.[labels.application]}`
    const cause = `a pod waits for a volume (${bounded(scheduled.message ?? '')})`
    return problem(applicationReasons.volumePending, cause, `see ${claims}, and size and storageClass in spec.volumes`)
  }
  const cure = 'lower cpu or memory in spec.processes, or add nodes'
  return problem(applicationReasons.rolloutStalled, 'no node has room for a pod', cure)
}

const statusesOf = ({ status }: Pod) => [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]

/** All problems of a pod, the one that comes first in front. */
export function problemsOf(pod: Pod): readonly PodProblem[] {
  const problems = [...statusesOf(pod).map(status => containerProblem(pod, status)), schedulingProblem(pod)]
  return problems.filter(found => found !== undefined)
}

export type TroubledPod = { readonly pod: Pod; readonly problem: PodProblem }

/** The newest pod that has a problem. Ignores pods that are being deleted. */
export function troubledPod(pods: readonly Pod[]): TroubledPod | undefined {
  const newestFirst = pods
    .filter(pod => pod.metadata.deletionTimestamp === undefined)
    .sort((a, b) => ((a.metadata.creationTimestamp ?? '') < (b.metadata.creationTimestamp ?? '') ? 1 : -1))
  for (const pod of newestFirst) {
    const [first] = problemsOf(pod)
    if (first !== undefined) return { pod, problem: first }
  }
  return undefined
}

/** The part of a pod that determines its problem: other updates of a pod do not wake the Application. */
export function problemFields(pod: Pod): unknown {
  const running = statusesOf(pod).map(({ ready, state }) => [ready, state?.running?.startedAt])
  return { deleted: pod.metadata.deletionTimestamp, running, problems: problemsOf(pod) }
}
