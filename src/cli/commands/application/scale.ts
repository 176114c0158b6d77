// `sekisho scale`: how many pods run each process.

import { maxReplicas, processDefaults } from '../../../api/apps/application/process-defaults.ts'
import type { Application } from '../../../api/apps/application.ts'
import { AppError } from '../../../lib/errors.ts'
import { didYouMean } from '../../kubernetes/similar-names.ts'
import { type ClusterFormat, present } from '../../output.ts'
import type { ClusterContext } from '../cluster-context.ts'
import { changeApplication } from './change.ts'

type Options = { readonly output: ClusterFormat; readonly dryRun?: boolean }

type Process = { readonly name: string; readonly replicas?: number }

/** `web=3` as a pair. Throws `invalid_request`. */
export function parseReplicas(words: readonly string[]): ReadonlyMap<string, number> {
  return new Map(
    words.map(word => {
      const match = /^([a-z0-9][-a-z0-9]*)=([0-9]{1,9})$/.exec(word)
      if (match?.[1] === undefined) throw new AppError('invalid_request', `${word}: write a process and a number, such as web=3`)
      if (Number(match[2]) > maxReplicas)
        throw new AppError('invalid_request', `${word}: a process can have at most ${maxReplicas} pods`)
      return [match[1], Number(match[2])]
    }),
  )
}

/** The processes with the new numbers. Throws `not_found` for a process that the Application does not have. */
export function scaled<P extends Process>(processes: readonly P[], wanted: ReadonlyMap<string, number>): readonly P[] {
  const names = processes.map(({ name }) => name)
  for (const name of wanted.keys())
    if (!names.includes(name))
      throw new AppError(
        'not_found',
        `there is no process ${name}; there ${names.length === 1 ? 'is' : 'are'} ${names.join(', ')}${didYouMean(name, names)}`,
      )
  return processes.map(process => ({ ...process, replicas: wanted.get(process.name) ?? process.replicas }))
}

/** Those of the spec, or those that were found in the image: these are then written into the spec. */
function processesOf({ spec, status }: Application): NonNullable<Application['spec']['processes']> {
  return spec.processes ?? (status?.processes ?? []).map(process => ({ ...process, ...processDefaults }))
}

/** How many pods of the process are asked for; `spec.replicas` counts before the number of the process web. */
function replicasOf(application: Application, process: string): number | undefined {
  const own = processesOf(application).find(({ name }) => name === process)?.replicas
  return process === 'web' ? (application.spec.replicas ?? own) : own
}

/**
 * The patch of `spec`. Throws `not_found` for a process that the Application does not have, and `conflict` for one whose number
 * follows from its load.
 */
export function replicasPatch(application: Application, wanted: ReadonlyMap<string, number>): object {
  const { metadata, spec } = application
  const known = processesOf(application)
  if (known.length === 0)
    throw new AppError(
      'not_found',
      spec.processes === undefined
        ? `the processes of ${metadata.name} are those of its first image, which is not there yet; sekisho why application/${metadata.name} says more`
        : `${metadata.name} has no processes: spec.processes is empty`,
    )
  const processes = scaled(known, wanted)
  const automatic = processes.find(({ name, autoscaling }) => wanted.has(name) && autoscaling !== undefined)
  if (automatic !== undefined)
    throw new AppError(
      'conflict',
      `${automatic.name} is scaled by its load: change autoscaling.minReplicas and maxReplicas of the process (kubectl edit application ${metadata.name})`,
    )
  const web = wanted.get('web')
  if (spec.processes === undefined && web !== undefined && wanted.size === 1) return { replicas: web }
  return { processes, ...(web !== undefined && spec.replicas !== undefined ? { replicas: null } : {}) }
}

/** Sets the replicas and prints what they were. */
export async function scale(context: ClusterContext, options: Options, name: string, words: readonly string[]): Promise<void> {
  const wanted = parseReplicas(words)
  const { before } = await changeApplication(context.cluster, name, options.dryRun, application =>
    replicasPatch(application, wanted),
  )
  const value = [...wanted].map(([process, replicas]) => ({ process, from: replicasOf(before, process), to: replicas }))
  const text = (): string =>
    value.map(({ process, from, to }) => `${name} ${process}: ${from} → ${to}${options.dryRun ? ' (dry run)' : ''}`).join('\n')
  await present(context.terminal, options.output, { value, text })
}
