// A process that runs and whose check fails: what it answered, and the cure. Pure. The texts are those of the kubelet of
// Kubernetes 1.34 in its Events; without one, only the kind of the check is known.
// Source: https://github.com/kubernetes/kubernetes/blob/v1.34.0/pkg/probe/http/http.go, pkg/kubelet/prober/prober.go
import { redactTokens } from '../../lib/log.ts'
import { applicationReasons } from '../apps/application.ts'
import { type PodProblem, problem } from './problem.ts'

type Check = { readonly path?: string | undefined; readonly command?: readonly string[] | undefined }

/** The part of a process that its check is made of. */
export type CheckedProcess = {
  readonly name: string
  readonly port?: number | undefined
  readonly healthPath?: string | undefined
  readonly probes?: { readonly startup?: Check | undefined; readonly readiness?: Check | undefined } | undefined
}

/** Which check failed last, and the kubelet's words about it. */
export type FailedCheck = { readonly probe: 'startup' | 'readiness'; readonly said: string }

/** Undefined for the text of another Event. */
export function failedCheckOf(message: string): FailedCheck | undefined {
  const [, probe, said] = /^(Startup|Readiness) probe (?:failed|errored)[^:]{0,100}: (.*)$/s.exec(message) ?? []
  if (probe === undefined || said === undefined) return undefined
  return { probe: probe === 'Startup' ? 'startup' : 'readiness', said }
}

type Found = readonly [cause: string, cure: string]

const asIngress = '[{name: X-Forwarded-Proto, value: https}]'

/** What a status usually means for a request that comes from the node, by its address, without TLS. */
function cureOfStatus(status: number): string {
  if (status === 404) return 'correct the path'
  if (status === 401) return 'let it answer without a login, or name another path'
  if (status >= 500) return 'see its log'
  return 'it may answer only under its own host name or by TLS: set healthHeaders in spec.processes, such as [{name: Host, value: <the host of the URL>}], let this path answer any host, or see its log'
}

function foundIn(said: string, port: number, path: string): Found | undefined {
  const [, status] = /HTTP probe failed with statuscode: (\d{3})/.exec(said) ?? []
  if (status !== undefined)
    return [
      `answers GET ${path} on port ${port} with the status ${status}, not one from 200 to 399`,
      cureOfStatus(Number(status)),
    ]
  if (/^Get "https:/.test(said))
    return [
      `redirects GET ${path} on port ${port} to https, which the ingress speaks and the process does not`,
      `set healthHeaders to ${asIngress} in spec.processes, as the ingress sends it, or let the path answer without a redirect`,
    ]
  if (/stopped after \d+ redirects/.test(said))
    return [
      `redirects GET ${path} on port ${port} again and again`,
      `let the path answer without a redirect, or set healthHeaders to ${asIngress} in spec.processes`,
    ]
  if (/connection refused/.test(said)) return notListening(port, [])
  if (/Client\.Timeout|deadline exceeded|i\/o timeout/.test(said))
    return [
      `does not answer GET ${path} on port ${port} in time`,
      'let the path answer without slow work, or raise timeoutSeconds of the check in probes',
    ]
  return undefined
}

function notListening(port: number, otherPorts: readonly number[]): Found {
  return otherPorts.length === 0
    ? [
        `nothing listens on port ${port}`,
        'listen on 0.0.0.0 and the port in the variable PORT, or correct port in spec.processes',
      ]
    : [
        `nothing listens on port ${port}, which was taken of several that the image exposes (also ${otherPorts.join(', ')})`,
        'set port of process web in spec.processes, or listen on 0.0.0.0 and the port in the variable PORT',
      ]
}

function ofCommand(probe: string, said: string | undefined): Found {
  const words = redactTokens((said ?? '').replaceAll(/\s+/g, ' ').trim()).slice(0, 200)
  return [`the command of probes.${probe} fails${words === '' ? '' : ` (${words})`}`, 'see its log, or correct the command']
}

/** Undefined for a process without a check. `otherPorts`: that the image exposes beside the one that was taken. */
export function failedCheckProblem(
  process: CheckedProcess,
  failed: FailedCheck | undefined,
  otherPorts: readonly number[] = [],
): PodProblem | undefined {
  const { name, port, healthPath, probes } = process
  const { probe = 'readiness', said } = failed ?? {}
  const check = probes?.[probe]
  const path = check?.path ?? (probe === 'readiness' ? healthPath : undefined)
  const found =
    check?.command !== undefined
      ? ofCommand(probe, said)
      : port === undefined
        ? undefined
        : path === undefined
          ? notListening(port, otherPorts)
          : (foundIn(said ?? '', port, path) ?? [
              `does not answer GET ${path} on port ${port} with a status from 200 to 399`,
              'correct the path or the port, or see its log',
            ])
  return found && problem(applicationReasons.notAnswering, `process ${name} runs, but ${found[0]}`, found[1])
}
