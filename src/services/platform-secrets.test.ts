// Reading Secrets by name: one request for many readers, what counts while the API server does not answer, and what a missing
// right is.
import { expect, test } from 'vitest'
import type { Secret } from '../api/builtin/index.ts'
import type { KubeClient } from '../kube/client/client.ts'
import { KubeError } from '../kube/client/errors.ts'
import { createPlatformSecrets } from './platform-secrets.ts'

function fixture() {
  let now = 0
  let requests = 0
  let answer: () => Secret | undefined = () => undefined
  const get = async (_type: unknown, key: unknown) => {
    requests++
    expect(key).toEqual({ namespace: 'sekisho-system', name: 'key' })
    return answer()
  }
  const client = { get } as unknown as Pick<KubeClient, 'get'>
  const read = createPlatformSecrets({ client, clock: { now: () => new Date(now) } })
  return {
    read: () => read('key'),
    requests: () => requests,
    pass: (milliseconds: number) => {
      now += milliseconds
    },
    answers: (secret: Secret | undefined) => {
      answer = () => secret
    },
    fails: (status: number) => {
      answer = () => {
        throw new KubeError('failed', { status, reason: 'Test' })
      }
    },
  }
}

const secret: Secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'key' }, data: {} }

test('readers share a request, and an answer counts for five seconds', async () => {
  const { read, requests, answers, pass } = fixture()
  answers(secret)
  expect(await Promise.all([read(), read()])).toEqual([
    { kind: 'found', secret },
    { kind: 'found', secret },
  ])
  answers(undefined)
  expect(await read()).toEqual({ kind: 'found', secret })
  expect(requests()).toBe(1)
  pass(5000)
  expect(await read()).toEqual({ kind: 'absent' })
})

test('the last answer counts while the API server does not answer; without one the read fails', async () => {
  const { read, answers, fails, pass } = fixture()
  fails(503)
  await expect(read()).rejects.toMatchObject({ status: 503 })
  answers(secret)
  expect(await read()).toEqual({ kind: 'found', secret })
  pass(5000)
  fails(0)
  expect(await read()).toEqual({ kind: 'found', secret })
})

test('a right that was taken away ends the use of what was read before', async () => {
  const { read, answers, fails, pass } = fixture()
  answers(secret)
  await read()
  pass(5000)
  fails(403)
  expect(await read()).toEqual({ kind: 'forbidden' })
})
