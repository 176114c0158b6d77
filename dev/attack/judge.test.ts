// Who stopped an attempt: recognised from answers as the API server, the registry, the broker and the desk give them, and never
// guessed.
import { describe, expect, test } from 'vitest'
import { judgeApi, judgeBroker, judgeDesk, judgeKubectl, judgeRegistry } from './judge.ts'

const status = (code: number, message: string) => ({ status: code, text: JSON.stringify({ kind: 'Status', message, code }) })

describe('the API server', () => {
  test.each([
    [
      'RBAC',
      403,
      'secrets is forbidden: User "github|x|1" cannot list resource "secrets" in API group "" in the namespace "acme"',
    ],
    [
      'RBAC',
      403,
      'users "x" is forbidden: User "github|x|1" cannot impersonate resource "users" in API group "" at the cluster scope',
    ],
    ['RBAC', 403, 'forbidden: User "github|x|1" cannot get path "/metrics"'],
    ['RBAC', 403, 'roles "x" is forbidden: user "y" is attempting to grant RBAC permissions not currently held'],
    [
      'admission',
      403,
      `services "x" is forbidden: ValidatingAdmissionPolicy 'sekisho-services' with binding 'b' denied request: no`,
    ],
    [
      'admission',
      422,
      `services "x" is invalid: ValidatingAdmissionPolicy 'sekisho-services' with binding 'b' denied request: no`,
    ],
    ['admission', 403, 'admission webhook "services.sekisho.dev" denied the request: no'],
    ['Pod Security', 403, 'pods "x" is forbidden: violates PodSecurity "restricted:latest": hostNetwork'],
    ['quota', 403, 'services "x" is forbidden: exceeded quota: tenant, requested: services.nodeports=1'],
    ['schema', 422, 'Service "x" is invalid: spec.type: Unsupported value: "X"'],
    ['authentication', 401, 'Unauthorized'],
  ])('%s: %i %s', (layer, code, message) => {
    expect(judgeApi(status(code, message))).toMatchObject({ outcome: 'stopped', by: layer })
  })

  test('a success is a success', () => {
    expect(judgeApi({ status: 201, text: '{"kind":"Service","metadata":{"name":"x"}}' })).toEqual({
      outcome: 'succeeded',
      evidence: '201 Service x',
    })
  })

  test.each([
    [500, 'Internal Server Error'],
    [503, 'admission webhook "x" denied the request'],
    [404, 'services "x" not found'],
    [403, 'for an unknown reason'],
    [409, 'the object has been modified'],
  ])('%i %s is unclear', (code, message) => {
    expect(judgeApi(status(code, message)).outcome).toBe('unclear')
  })

  test('kubectl is judged by its text, not by its exit code alone', () => {
    expect(
      judgeKubectl({ code: 1, output: '', errors: 'error: pods "x" is forbidden: User "u" cannot create resource "pods/exec"' })
        .outcome,
    ).toBe('stopped')
    expect(judgeKubectl({ code: 1, output: '', errors: 'Unable to connect to the server' }).outcome).toBe('unclear')
    expect(judgeKubectl({ code: 0, output: 'x', errors: '' }).outcome).toBe('succeeded')
  })
})

test('the registry: a 404 means that the request was allowed', () => {
  expect(judgeRegistry({ status: 401, text: '' })).toMatchObject({ by: 'registry' })
  expect(judgeRegistry({ status: 404, text: '' }).outcome).toBe('succeeded')
  expect(judgeRegistry({ status: 500, text: '' }).outcome).toBe('unclear')
  expect(judgeRegistry({ status: 429, text: '' }).outcome).toBe('unclear')
})

test('the broker: only the expected refusals count where they are named', () => {
  expect(judgeBroker({ status: 403, text: '{"error":{"code":"forbidden"}}' })).toMatchObject({ by: 'broker' })
  expect(judgeBroker({ status: 404, text: '' }, [401]).outcome).toBe('unclear')
  expect(judgeBroker({ status: 202, text: '' }, [401]).outcome).toBe('succeeded')
  expect(judgeBroker({ status: 303, text: '' }).outcome).toBe('succeeded')
  expect(judgeBroker({ status: 502, text: '' }).outcome).toBe('unclear')
})

test('the token desk: only its own errors count', () => {
  expect(judgeDesk({ status: 403, text: '{"error":{"code":"forbidden","message":"no"}}' })).toMatchObject({ by: 'token desk' })
  expect(judgeDesk({ status: 403, text: 'proxy says no' }).outcome).toBe('unclear')
  expect(judgeDesk({ status: 200, text: '{"token":"x"}' }).outcome).toBe('succeeded')
})
