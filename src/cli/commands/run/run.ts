// `sekisho run`: a command in a pod of its own, with the image, the environment and the restrictions of the Application. Its
// exit code becomes the one of this process.
import { namespacedKind } from '../../../api/builtin/resource-type.ts'
import type { Deployment } from '../../../api/builtin/workloads.ts'
import { taskNamePrefixOf } from '../../../api/task-names.ts'
import { AppError } from '../../../lib/errors.ts'
import { fieldManager } from '../../kubernetes/cluster.ts'
import { remoteSyncs } from '../../kubernetes/kinds.ts'
import { whoIs } from '../../kubernetes/who-is.ts'
import { type ClusterFormat, CommandEnded, json, present } from '../../output.ts'
import { namedOrOnly } from '../application/only.ts'
import { podSelector } from '../application/pods.ts'
import type { ClusterContext } from '../cluster-context.ts'
import { followTask } from './follow-task.ts'
import { type LocalTerminal, processTerminal } from './local-terminal.ts'
import { builtByBuildpacks, builtFolder, deploymentFor, jobs, type TaskInput, taskJob } from './task-job.ts'

export type RunOptions = {
  readonly detach?: boolean
  readonly interactive?: boolean
  readonly tty?: boolean
  readonly process?: string
  readonly timeout: number
  readonly volumes?: boolean
  readonly dryRun?: boolean
  readonly output: ClusterFormat
}

const deployments = namespacedKind<Deployment>('apps/v1', 'Deployment', 'deployments')

/** As shells report the end by a signal: 128 and its number. */
const signalCodes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const

/** Prints what the command writes. Rejects with CommandEnded when it ends with another code than 0. */
export function run(context: ClusterContext, options: RunOptions, name: string, words: readonly string[]): Promise<void> {
  return runTask(context, options, { name, command: commandIn(words), begins: undefined, local: processTerminal() })
}

/** The words after the application: a `--` before the command is allowed. Throws `invalid_request`. */
export function commandIn(words: readonly string[]): readonly string[] {
  const [first, ...rest] = words
  const command = first === '--' ? rest : words
  if (command.length === 0) throw new AppError('invalid_request', 'name the command to run: sekisho run shop -- node migrate.js')
  if (first !== '--' && first?.startsWith('-') === true)
    throw new AppError(
      'invalid_request',
      `everything after the application belongs to the command, and no program is called ${first}: write options of sekisho run before the application`,
    )
  return command
}

export type RunTask = {
  readonly name: string
  readonly command: readonly string[]
  /** What is typed for the person once the terminal is attached. */
  readonly begins: string | undefined
  readonly local: LocalTerminal
}

/** Makes the Job and follows it, unless it is detached. */
export async function runTask(context: ClusterContext, options: RunOptions, task: RunTask): Promise<void> {
  const { cluster, terminal } = context
  const { client, namespace } = cluster
  const { name, command, begins, local } = task
  const application = await namedOrOnly(cluster, name)
  const [all, syncs, me] = await Promise.all([
    client.list(deployments, { namespace, labelSelector: podSelector(name) }),
    client.list(remoteSyncs, { namespace }),
    whoIs(cluster),
  ])
  const { detach = false, process: like, timeout: timeoutSeconds, volumes = false, dryRun = false } = options
  const ownPrefix = taskNamePrefixOf(me.user)
  const input = inputOf(options, local, ownPrefix !== undefined)
  const buildpacks = builtByBuildpacks(application, syncs)
  const folder = builtFolder(application, syncs)
  const wanted = { command, process: like, timeoutSeconds, detach, volumes, buildpacks, folder, input, ownPrefix }
  const job = await client.create(jobs, taskJob(application, deploymentFor(name, all, like), wanted), { fieldManager, dryRun })
  const made = job.metadata.name
  if (dryRun) return present(terminal, options.output, { value: job, text: () => json(job) })
  if (detach) {
    const text = (): string =>
      `${made} runs; kubectl logs -f job/${made} shows what it writes, kubectl delete job ${made} ends it. It is removed a day after its end`
    return present(terminal, options.output, { value: { job: made }, text })
  }
  await untilOver(context, made, signal => followTask(context, { job: made, input, begins, local, buildpacks }, signal))
}

/**
 * What the command reads: a terminal with -t; with -i, or when standard input is a file or a pipe, what comes there. Only
 * people can attach: for others a pipe that was not asked for is left alone.
 */
export function inputOf(
  { detach, interactive, tty, dryRun }: Partial<RunOptions>,
  { input }: Pick<LocalTerminal, 'input'>,
  isPerson: boolean,
): TaskInput {
  const asked = interactive === true || tty === true
  if (asked && detach === true) throw new AppError('invalid_request', '--detach does not go with -i and -t: nobody is there')
  if (asked && !isPerson)
    throw new AppError('forbidden', 'only people who sign in with GitHub can attach to a pod: leave out -i and -t')
  if (tty === true && input !== 'terminal' && dryRun !== true)
    throw new AppError('invalid_request', 'standard input is not a terminal: use -i without -t, or sekisho run as it is')
  if (tty === true) return 'terminal'
  if (interactive === true) return 'stream'
  return input === 'stream' && isPerson && detach !== true ? 'stream' : 'none'
}

/** Deletes the Job in the end, also when the person ends this command, or the terminal vanishes. */
async function untilOver(context: ClusterContext, job: string, work: (signal: AbortSignal) => Promise<number>): Promise<void> {
  const { client, namespace } = context.cluster
  const over = new AbortController()
  const onSignal = (signal: keyof typeof signalCodes): void => over.abort(new CommandEnded(signalCodes[signal]))
  const signals = Object.keys(signalCodes) as (keyof typeof signalCodes)[]
  for (const signal of signals) process.once(signal, onSignal)
  try {
    const code = await work(over.signal)
    if (code !== 0) throw new CommandEnded(code)
  } finally {
    for (const signal of signals) process.off(signal, onSignal)
    await client.delete(jobs, { name: job, namespace })
  }
}
