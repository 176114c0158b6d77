// The probes of a process. Without any wish of the Application a process with a port is ready as soon as the port accepts
// connections.
import { k8s } from 'cdk8s-plus-33'
import { defined } from '../../../lib/json/defined.ts'
import type { ChartProcess } from '../chart-input.ts'

type Probe = NonNullable<NonNullable<ChartProcess['probes']>['liveness']>

/** The time after which a rollout that makes no progress has failed, when no start-up probe allows more. */
const rolloutDeadlineSeconds = 120

/** Without a path and a command: a connection to the port. */
function check(
  { path, command }: Pick<Probe, 'path' | 'command'>,
  { port, healthHeaders }: Pick<ChartProcess, 'port' | 'healthHeaders'>,
): Pick<k8s.Probe, 'exec' | 'httpGet' | 'tcpSocket'> {
  if (command !== undefined) return { exec: { command: [...command] } }
  const target = k8s.IntOrString.fromNumber(port ?? 0)
  if (path === undefined) return { tcpSocket: { port: target } }
  const httpHeaders = healthHeaders?.map(({ name, value }) => ({ name, value }))
  return { httpGet: { path, port: target, ...defined({ httpHeaders }) } }
}

function times({ periodSeconds, timeoutSeconds, failureThreshold }: Probe): Omit<k8s.Probe, 'exec' | 'httpGet' | 'tcpSocket'> {
  return { periodSeconds, timeoutSeconds, failureThreshold }
}

/** The container's three probes, those that are asked for. */
export function probes(process: ChartProcess): Pick<k8s.Container, 'startupProbe' | 'livenessProbe' | 'readinessProbe'> {
  const { startup, liveness, readiness } = process.probes ?? {}
  const probe = (given: Probe): k8s.Probe => ({ ...check(given, process), ...times(given) })
  const path = process.healthPath
  const simple = { ...defined({ path }), periodSeconds: 1, timeoutSeconds: 2, failureThreshold: 3 }
  const ready = readiness ?? (process.port === undefined ? undefined : simple)
  return {
    ...(startup ? { startupProbe: probe(startup) } : {}),
    ...(liveness ? { livenessProbe: probe(liveness) } : {}),
    ...(ready ? { readinessProbe: probe(ready) } : {}),
  }
}

/** Longer than the start-up probe lets the process take. */
export function progressDeadlineSeconds({ probes: given }: ChartProcess): number {
  const { startup } = given ?? {}
  return startup ? rolloutDeadlineSeconds + startup.periodSeconds * startup.failureThreshold : rolloutDeadlineSeconds
}
