// What the kubelet of Kubernetes 1.34 writes about a check that fails, and what the author of the Application reads.
import { describe, expect, test } from 'vitest'
import { failedCheckOf, failedCheckProblem } from './failed-check.ts'

const web = { name: 'web', port: 3000, healthPath: '/healthz' }
const said = (event: string, process: Parameters<typeof failedCheckProblem>[0] = web): string =>
  failedCheckProblem(process, failedCheckOf(event))?.message ?? ''

const answers = 'process web runs, but answers GET /healthz on port 3000 with the status'

describe('a check by HTTP', () => {
  test.each([
    [
      'Readiness probe failed: HTTP probe failed with statuscode: 404',
      `${answers} 404, not one from 200 to 399: correct the path`,
    ],
    ['Readiness probe failed: HTTP probe failed with statuscode: 503', `${answers} 503, not one from 200 to 399: see its log`],
    [
      'Readiness probe failed: HTTP probe failed with statuscode: 401',
      `${answers} 401, not one from 200 to 399: let it answer without a login, or name another path`,
    ],
    [
      'Readiness probe failed: Get "https://10.42.0.9:3000/healthz": http: server gave HTTP response to HTTPS client',
      'process web runs, but redirects GET /healthz on port 3000 to https, which the ingress speaks and the process does not: set healthHeaders to [{name: X-Forwarded-Proto, value: https}] in spec.processes, as the ingress sends it, or let the path answer without a redirect',
    ],
    [
      'Readiness probe failed: Get "http://10.42.0.9:3000/healthz": dial tcp 10.42.0.9:3000: connect: connection refused',
      'process web runs, but nothing listens on port 3000: listen on 0.0.0.0 and the port in the variable PORT, or correct port in spec.processes',
    ],
    [
      'Readiness probe failed: Get "http://10.42.0.9:3000/healthz": context deadline exceeded (Client.Timeout exceeded while awaiting headers)',
      'process web runs, but does not answer GET /healthz on port 3000 in time: let the path answer without slow work, or raise timeoutSeconds of the check in probes',
    ],
  ])('%s', (event, sentence) => {
    expect(said(event)).toBe(sentence)
  })

  test('a status that asks for a host name has the header as its cure', () => {
    expect(said('Readiness probe failed: HTTP probe failed with statuscode: 400')).toMatch(
      /the status 400.*healthHeaders in spec\.processes, such as \[{name: Host, value: /,
    )
  })

  test('a redirect to port 443 of the pod, where nothing listens, is a redirect', () => {
    const event = 'Readiness probe failed: Get "https://10.42.0.9/healthz": dial tcp 10.42.0.9:443: connect: connection refused'
    expect(said(event)).toContain('redirects GET /healthz on port 3000 to https')
  })

  test('what the kubelet has not said yet is told by the kind of the check', () => {
    expect(failedCheckProblem(web, undefined)?.message).toContain('does not answer GET /healthz on port 3000 with a status')
    const readiness = { path: '/ready' }
    expect(failedCheckProblem({ name: 'web', port: 80, probes: { readiness } }, undefined)?.message).toContain(
      'GET /ready on port 80',
    )
  })
})

test('a start-up check that fails is spoken of, not the one that waits for it', () => {
  const process = { ...web, probes: { startup: { path: '/started' } } }
  expect(said('Startup probe failed: HTTP probe failed with statuscode: 500', process)).toContain('answers GET /started')
})

test('a command has its output, in one line of bounded length and without tokens', () => {
  const process = { name: 'worker', probes: { readiness: { command: ['check'] } } }
  const event = `Readiness probe failed: no\n connection ghs_0123456789abcdefghijABCDEFGHIJ012345 ${'x'.repeat(5000)}`
  expect(said(event, process)).toMatch(/^process worker runs, but the command of probes\.readiness fails \(no connection /)
  expect(said(event, process)).not.toContain('ghs_')
  expect(said(event, process).length).toBeLessThan(400)
})

test('an image with several ports says which one was taken', () => {
  const process = { name: 'web', port: 80 }
  expect(failedCheckProblem(process, undefined, [443, 9090])?.message).toBe(
    'process web runs, but nothing listens on port 80, which was taken of several that the image exposes (also 443, 9090): set port of process web in spec.processes, or listen on 0.0.0.0 and the port in the variable PORT',
  )
})

test('other Events, and processes without a check, say nothing', () => {
  expect(failedCheckOf('Liveness probe failed: HTTP probe failed with statuscode: 500')).toBeUndefined()
  expect(failedCheckOf('Back-off restarting failed container web')).toBeUndefined()
  expect(failedCheckProblem({ name: 'worker' }, failedCheckOf('Readiness probe failed: x'))).toBeUndefined()
})
