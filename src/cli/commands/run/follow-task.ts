// Follows a task until its end. Without a terminal its output is read from the log, so that nothing of it is lost, and only the
// input is attached; with one, input and output are attached. The exit code comes from the pod in both cases.
import type { Pod } from '../../../api/builtin/core.ts'
import { isKubeError } from '../../../kube/client/errors.ts'
import { endsWithin } from '../../../lib/clock.ts'
import { isAppError } from '../../../lib/errors.ts'
import type { ClusterContext } from '../cluster-context.ts'
import { containerLog } from '../logs/container-log.ts'
import { type Attached, attach } from './attach.ts'
import type { LocalTerminal } from './local-terminal.ts'
import type { TaskInput } from './task-job.ts'
import { type End, notFoundCode, started, untilEnded } from './task-pod.ts'

export type FollowedTask = {
  readonly job: string
  readonly input: TaskInput
  /** What is typed for the person once the terminal is attached. */
  readonly begins: string | undefined
  readonly local: LocalTerminal
  readonly buildpacks: boolean
}

const container = 'task'
/** Between the end of the connection and that of the container, where one is the consequence of the other. */
const endMilliseconds = 10_000
const maxLogBytes = 64 * 1024
/** Of the launcher of buildpacks, when it does not find the program: https://github.com/buildpacks/lifecycle (cmd/exit.go) */
const launchFailed = { code: 82, line: /failed to launch: .*(executable file not found|no such file or directory)/ }

/** Resolves to the exit code. Rejects with the reason of the signal. */
export async function followTask(context: ClusterContext, task: FollowedTask, signal: AbortSignal): Promise<number> {
  const pod = await started(context, task.job, signal)
  const ended = untilEnded(context, task.job, signal)
  // Whoever waits for it hears of a failure; one that nobody waits for any more is that of the signal.
  ended.catch(() => undefined)
  const follow = task.input === 'terminal' ? inTerminal : inLog
  const { code, why } = await follow(context, { ...task, pod, ended, signal })
  if (why !== undefined) context.terminal.say(`${task.job}: ${why}`)
  return code
}

type Running = FollowedTask & { readonly pod: Pod; readonly ended: Promise<End>; readonly signal: AbortSignal }

async function inLog(context: ClusterContext, task: Running): Promise<End> {
  const { cluster, clock, terminal } = context
  const { client, namespace } = cluster
  const { pod, input, ended, local, buildpacks } = task
  const source = { process: 'run', pod: pod.metadata.name, container }
  let running = true
  let isMissing = false
  const over = (): void => {
    running = false
  }
  ended.then(over, over)
  const failed = new AbortController()
  const given = input === 'stream' ? giveInput(context, task).catch(error => failed.abort(error)) : undefined
  const signal = AbortSignal.any([task.signal, failed.signal])
  const range = { follow: true, stillRuns: () => running }
  for await (const line of containerLog({ client, namespace, clock, signal }, source, range)) {
    isMissing = buildpacks && launchFailed.line.test(line.text)
    terminal.result(line.text)
  }
  const end = await ended
  if (given !== undefined) local.release()
  await given
  return isMissing && end.code === launchFailed.code ? { code: notFoundCode, why: 'the image has no such program' } : end
}

/** Sends standard input, and its end. Resolves when the program has ended, which may be before; rejects as `attach` does. */
async function giveInput(context: ClusterContext, { pod, local, ended }: Running): Promise<void> {
  const attached = await attachedOr(context, { pod, tty: false }, ended)
  if (attached === undefined) return
  const sent = (async () => {
    for await (const bytes of local.bytes()) await attached.send(bytes)
    attached.endInput()
  })()
  await Promise.race([sent, ended])
  await ended
  await attached.close()
  // What is read after the end of the program is for nobody.
  await sent.catch(() => undefined)
}

async function inTerminal(context: ClusterContext, { pod, ended, local, begins }: Running): Promise<End> {
  const before = await textSoFar(context, pod)
  const onOutput = (bytes: Uint8Array): void => local.write(bytes)
  const attached = await attachedOr(context, { pod, tty: true, onOutput }, ended)
  if (attached === undefined) {
    local.write(Buffer.from(await textSoFar(context, pod)))
    return ended
  }
  local.write(Buffer.from(before))
  const tellSize = (): void => {
    const size = local.size()
    if (size !== undefined) attached.resize(size)
  }
  const stop = local.onResize(tellSize)
  local.raw(true)
  try {
    tellSize()
    if (begins !== undefined) await attached.send(Buffer.from(begins))
    const typed = (async () => {
      for await (const bytes of local.bytes()) await attached.send(bytes)
    })()
    await Promise.race([attached.ended, ended, typed.then(() => attached.ended)])
  } finally {
    stop()
    local.raw(false)
    local.release()
    await attached.close()
  }
  if (await endsWithin(context.clock, endMilliseconds, ended)) return ended
  return { code: 1, why: 'the connection ended: the command is ended, too' }
}

type To = { readonly pod: Pod; readonly tty: boolean; readonly onOutput?: (bytes: Uint8Array) => void }

/** Undefined when the container ended before, so that there is nothing to attach to. */
async function attachedOr(context: ClusterContext, { pod, ...to }: To, ended: Promise<End>): Promise<Attached | undefined> {
  const { connection, clock, cluster } = context
  const key = { name: pod.metadata.name, namespace: cluster.namespace }
  try {
    return await attach({ connection, clock, pod: key, container, ...to })
  } catch (error) {
    const isOver = isAppError(error, 'unavailable') || isKubeError(error, 404)
    if (isOver && (await endsWithin(clock, endMilliseconds, ended))) return undefined
    throw error
  }
}

/** What the program wrote before anybody was attached, as lines. */
async function textSoFar({ cluster }: ClusterContext, pod: Pod): Promise<string> {
  const key = { name: pod.metadata.name, namespace: cluster.namespace }
  return cluster.client.podLogs(key, { container, tailLines: 200, limitBytes: maxLogBytes })
}
