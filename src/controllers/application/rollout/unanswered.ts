// A process that runs and is not ready: nobody listens on its port, or its check fails. Kubernetes says so only when the
// rollout has taken too long, two minutes or more; here it is said after some seconds, as a cause to look at, while the rollout
// goes on. Pure.
import { applicationReasons } from '../../../api/apps/application.ts'
import type { ContainerStatus, Pod } from '../../../api/builtin/index.ts'
import type { Refusal } from '../../../policy/check.ts'
import type { ChartProcess } from '../../../services/charts/chart-input.ts'
import type { Rollout } from './rollout.ts'

/** Most processes listen long before that. */
const patienceMilliseconds = 20_000

function messageFor({ name, port, healthPath, probes }: ChartProcess): string | undefined {
  const { path = healthPath, command } = probes?.readiness ?? {}
  if (command !== undefined)
    return `process ${name} runs, but the command of probes.readiness fails: see its log, or correct the command`
  if (port === undefined) return undefined
  if (path !== undefined)
    return `process ${name} runs, but does not answer GET ${path} on port ${port} with a status from 200 to 399: correct the path or the port, or see its log`
  return `process ${name} runs, but nothing listens on port ${port}: listen on 0.0.0.0 and the port in the variable PORT, or correct port in spec.processes`
}

function isUnready({ ready, state, lastState }: ContainerStatus): boolean {
  return !ready && state?.running?.startedAt !== undefined && lastState?.terminated === undefined
}

/** Milliseconds until the container has run long enough to be asked about; undefined when it is ready, or not running. */
function remaining(container: ContainerStatus, now: Date): number | undefined {
  if (!isUnready(container)) return undefined
  return Math.max(Date.parse(container.state?.running?.startedAt ?? '') + patienceMilliseconds - now.getTime(), 0)
}

/** The rollout with the cause that was found, and after how many milliseconds to look again for one. */
export function withUnanswered(
  rollout: Rollout,
  { pods, processes }: { readonly pods: readonly Pod[]; readonly processes: readonly ChartProcess[] },
  now: Date,
): { readonly rollout: Rollout; readonly requeueAfterMilliseconds?: number } {
  if (rollout.complete || rollout.problem !== undefined) return { rollout }
  const waits = pods
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .flatMap(pod => pod.status?.containerStatuses ?? [])
    .flatMap(container => {
      const process = processes.find(({ name }) => name === container.name)
      const wait = remaining(container, now)
      return process === undefined || wait === undefined ? [] : [{ process, wait }]
    })
  const message = waits
    .filter(({ wait }) => wait === 0)
    .map(({ process }) => messageFor(process))
    .find(found => found !== undefined)
  if (message !== undefined) {
    const problem: Refusal = { reason: applicationReasons.notAnswering, message }
    return { rollout: { ...rollout, problem } }
  }
  const next = Math.min(...waits.map(({ wait }) => wait).filter(wait => wait > 0))
  return Number.isFinite(next) ? { rollout, requeueAfterMilliseconds: next } : { rollout }
}
