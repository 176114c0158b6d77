// Why a pod of an Application does not become ready: the reason and the cure, for the Application's author. Pure.
import { redactTokens } from '../../lib/log.ts'
import { applicationReasons } from '../apps/application.ts'
import type { ContainerStatus, Pod } from '../builtin/index.ts'
import { labels } from '../names.ts'
import { exitProblem } from './exit-problem.ts'
import { newestPods } from './newest-pods.ts'
import { type PodProblem, problem } from './problem.ts'
import { untilSettled } from './settled.ts'
import { startProblem } from './start-problem.ts'

const pullFailures: ReadonlySet<string> = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
  'ErrImageNeverPull',
  'RegistryUnavailable',
])
/** What containerd says of an answer 401 or 403, and of a token server that refuses. */
const asksForCredential = /unauthorized|failed to authorize|authorization failed|pull access denied|forbidden|\b40[13]\b/i
/** Ends of the program itself: the message is then the end of its log, which is not the runtime's word. */
const ownEnds: ReadonlySet<string> = new Set(['Error', 'Completed', 'OOMKilled'])
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

type Said = { readonly reason?: string; readonly message?: string }

function saidByRuntime(waiting: Said | undefined, last: Said | undefined): string {
  return [waiting, ownEnds.has(last?.reason ?? '') ? undefined : last].flatMap(state => state?.message ?? []).join(' ')
}

function containerProblem(pod: Pod, container: ContainerStatus, now: Date): PodProblem | undefined {
  const { waiting, terminated } = container.state ?? {}
  const last = terminated ?? container.lastState?.terminated
  if (waiting && pullFailures.has(waiting.reason ?? '')) return pullProblem(container.image, waiting)
  if (container.ready && untilSettled(pod, container, now) === 0) return undefined
  const said = saidByRuntime(waiting, last)
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
function problemsOf(pod: Pod, now: Date): readonly PodProblem[] {
  const problems = [...statusesOf(pod).map(status => containerProblem(pod, status, now)), schedulingProblem(pod)]
  return problems.filter(found => found !== undefined)
}

export type TroubledPod = { readonly pod: Pod; readonly problem: PodProblem }

/** The newest pod that has a problem, of those that are not being deleted or replaced. */
export function troubledPod(pods: readonly Pod[], now: Date): TroubledPod | undefined {
  for (const pod of newestPods(pods)) {
    const [first] = problemsOf(pod, now)
    if (first !== undefined) return { pod, problem: first }
  }
  return undefined
}

/** Before every process: one that started anew is doubted. */
const always = new Date(0)

/** The part of a pod that determines its problem: other updates of a pod do not wake the Application. */
export function problemFields(pod: Pod): unknown {
  const running = statusesOf(pod).map(({ ready, state }) => [ready, state?.running?.startedAt])
  return { deleted: pod.metadata.deletionTimestamp, running, problems: problemsOf(pod, always) }
}
