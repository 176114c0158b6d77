// What a ClusterGitHubApp says of its webhook, by what GitHub is set to.
import { expect, test } from 'vitest'
import type { ClusterGitHubApp } from '../../api/github/cluster-github-app.ts'
import { decide } from './decide.ts'
import type { AppAnswer, Facts } from './gather.ts'
import { nextStatus } from './status.ts'

const now = new Date('2026-01-01T00:00:00Z')
const factsOf = (answer: AppAnswer, status?: ClusterGitHubApp['status']): Facts => ({
  object: { metadata: { name: 'default', generation: 1 }, spec: { appId: 7 }, status } as unknown as ClusterGitHubApp,
  answer,
})
const app = (encoding: 'json' | 'form' | undefined, id = 7): AppAnswer => ({
  ...{ kind: 'app', app: { id, slug: 's', name: 'n', permissions: {} } as never, encoding },
})
const said = (facts: Facts) => nextStatus(facts, decide(facts), now)
const webhookOf = (status: ReturnType<typeof said>) => status.conditions?.find(({ type }) => type === 'WebhookReadable')

test('a form says the setting, leaves the App ready, and is asked about again soon', () => {
  const { ready, webhook, requeueAfterMilliseconds } = decide(factsOf(app('form')))
  expect([ready.status, webhook?.status, webhook?.reason, requeueAfterMilliseconds]).toEqual([
    'True',
    'False',
    'FormDeliveries',
    60_000,
  ])
  expect(webhook?.message).toContain('Content type: application/json')
})

test('it ends when GitHub is set to JSON, and stays while GitHub does not say it', () => {
  const form = said(factsOf(app('form')))
  expect(webhookOf(said(factsOf(app('json'), form)))).toMatchObject({ status: 'True', reason: 'JsonDeliveries' })
  expect(webhookOf(said(factsOf({ kind: 'unreachable', message: 'away', retryAfterSeconds: undefined }, form)))?.reason).toBe(
    'FormDeliveries',
  )
  expect(decide(factsOf(app('json'))).requeueAfterMilliseconds).toBeUndefined()
})

test('an App without a webhook says nothing about it', () => {
  expect(webhookOf(said(factsOf(app(undefined))))).toBeUndefined()
})

test.each([
  ['host-conflict', 'HostConflict'],
  ['signer-refused', 'SignerRefused'],
] as const)('%s: it is not ready, says why, and is looked at again', (kind, reason) => {
  const { ready, requeueAfterMilliseconds } = decide(factsOf({ kind, message: 'why' }))
  expect([ready, requeueAfterMilliseconds]).toEqual([{ type: 'Ready', status: 'False', reason, message: 'why' }, 60_000])
})
