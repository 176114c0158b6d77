// Which credential all pods have: from the releases, and from what runs.

import { describe, expect, test } from 'vitest'
import type { Application } from '../../../api/apps/application.ts'
import type { ReleaseHeader } from '../../../api/apps/release.ts'
import type { Pod } from '../../../api/builtin/index.ts'
import { rolledOutAnnotation } from '../../../api/services/binding-secret.ts'
import type { ServiceBinding } from '../../../api/services/service-binding.ts'
import type { KubeClient } from '../../../kube/client/client.ts'
import { credentialSince, hasFormer, tellRolledOut } from './rolled-out.ts'
import { serviceVersions } from './service-checks.ts'
import { bindingOf, entryOf } from './testing/service-objects.ts'

const at = (second: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString()

function applicationOf(release: number, reason = 'Available'): Application {
  const status = reason === 'Available' ? ('True' as const) : ('False' as const)
  const ready = { type: 'Ready', status, reason, message: '', lastTransitionTime: at(0), observedGeneration: 1 }
  return {
    apiVersion: 'apps.sekisho.dev/v1alpha1',
    kind: 'Application',
    metadata: { name: 'shop', namespace: 'acme', uid: 'uid-shop', generation: 1 },
    spec: { chart: 'web' },
    status: { observedGeneration: 1, release, conditions: [ready] },
  }
}

function draining(version: number): ServiceBinding {
  const binding = bindingOf({ version })
  const slots = [{ slot: 'a' as const, state: 'Draining' as const, issuedAt: at(0) }]
  return { ...binding, status: { ...binding.status, slots } }
}

const entry = { ...entryOf(), binding: draining(2) }
const services = [entry]
const present = serviceVersions({ services })
const releaseOf = (number: number, second: number, secretVersions: Readonly<Record<string, string>>): ReleaseHeader =>
  ({ metadata: { name: `shop-${number}`, creationTimestamp: at(second) }, spec: { number, secretVersions } }) as ReleaseHeader
const headers = [releaseOf(3, 30, present), releaseOf(2, 20, present), releaseOf(1, 10, { 'service:db': '1-11111111' })]

const podOf = (second: number, labels: Readonly<Record<string, string>> = {}, phase = 'Running'): Pod =>
  ({ metadata: { name: 'p', creationTimestamp: at(second), labels }, status: { phase } }) as unknown as Pod
const job = { 'batch.kubernetes.io/job-name': 'x' }

test('a credential is in pods since the first release with it, when that or a later one runs', () => {
  const facts = { services, releases: { headers } }
  expect(credentialSince(applicationOf(3), facts, entry)).toEqual(new Date(at(20)))
  expect(credentialSince(applicationOf(1), facts, entry)).toBeUndefined()
  expect(credentialSince(applicationOf(3), { services, releases: { headers: headers.slice(2) } }, entry)).toBeUndefined()
})

test.each<[string, Pod, boolean]>([
  ['a process before it', podOf(19), true],
  ['a process of the same second', podOf(20), false],
  ['a Job of the same second', podOf(20, job), true],
  ['a command of the same second', podOf(20, { 'sekisho-cli/task-of': 'shop' }), true],
  ['a Job after it', podOf(21, job), false],
  ['a Job before it that has ended', podOf(1, job, 'Succeeded'), false],
])('%s', (_, pod, expected) => {
  expect(hasFormer(pod, new Date(at(20)))).toBe(expected)
})

describe('it is said', () => {
  async function said(application: Application, pods: readonly Pod[], facts = { services, releases: { headers } }) {
    const applied: unknown[] = []
    const asked: unknown[] = []
    const client = {
      list: async (_: unknown, options: unknown) => (asked.push(options) === 1 ? pods : []),
      apply: async (_: unknown, object: unknown) => void applied.push(object),
    } as unknown as Pick<KubeClient, 'list' | 'apply'>
    return { again: await tellRolledOut({ client }, application, facts), applied, asked }
  }

  test('once no pod has the former one', async () => {
    const { again, applied, asked } = await said(applicationOf(3), [podOf(25)])
    expect(again).toBeUndefined()
    expect(applied).toMatchObject([{ metadata: { uid: '11111111-2222', annotations: { [rolledOutAnnotation]: '2' } } }])
    expect(asked).toEqual(
      ['sekisho.dev/application=shop', 'sekisho-cli/task-of=shop'].map(labelSelector => ({ namespace: 'acme', labelSelector })),
    )
  })

  test('not while one has; then it is looked again', async () => {
    expect(await said(applicationOf(3), [podOf(5, job)])).toMatchObject({ again: 30_000, applied: [] })
  })

  test('not while the rollout goes on, nor when nothing drains, nor twice; and nobody is asked', async () => {
    const { metadata } = draining(2)
    const told = { ...draining(2), metadata: { ...metadata, annotations: { [rolledOutAnnotation]: '2' } } }
    for (const [application, binding] of [
      [applicationOf(3, 'RollingOut'), draining(2)],
      [applicationOf(3), bindingOf({ version: 2 })],
      [applicationOf(3), told],
    ] as const) {
      const facts = { services: [{ ...entry, binding }], releases: { headers } }
      expect(await said(application, [], facts)).toEqual({ again: undefined, applied: [], asked: [] })
    }
  })
})
