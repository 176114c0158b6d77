import { describe, expect, test } from 'vitest'
import type { Namespace, Pod } from '../../../api/builtin/index.ts'
import { heldKinds, heldMessage, isOverdue } from './decide-end.ts'

const requested = Date.parse('2026-01-01T00:00:00Z')
const at = (seconds: number): Date => new Date(requested + seconds * 1000)
const apiVersion = 'v1'

/** A pod whose deletion was requested with that grace period. */
function pod(grace: number): Pod {
  const deletionTimestamp = at(grace).toISOString()
  return { apiVersion, kind: 'Pod', metadata: { name: 'p', deletionTimestamp, deletionGracePeriodSeconds: grace } }
}

describe('a pod', () => {
  test('is overdue two minutes after its grace period', () => {
    expect(isOverdue(pod(30), at(149))).toBe(false)
    expect(isOverdue(pod(30), at(150))).toBe(true)
  })

  test('whose grace period is older than its bound counts with the bound', () => {
    expect(isOverdue(pod(2 ** 31), at(3719))).toBe(false)
    expect(isOverdue(pod(2 ** 31), at(3720))).toBe(true)
  })

  test('that nobody deleted, or that was forced already, is not forced', () => {
    expect(isOverdue({ apiVersion, kind: 'Pod', metadata: { name: 'p' } }, at(1e9))).toBe(false)
    expect(isOverdue(pod(0), at(1e9))).toBe(false)
  })
})

function namespace(
  content: string,
  finalizers = 'Some content in the namespace has finalizers remaining: a.b/c in 1 resource instances',
) {
  const condition = (type: string, message: string) => ({ type, status: message === '' ? 'False' : 'True', message })
  const conditions = [condition('NamespaceContentRemaining', content), condition('NamespaceFinalizersRemaining', finalizers)]
  const metadata = { name: 'acme', deletionTimestamp: at(0).toISOString() }
  return { apiVersion, kind: 'Namespace', metadata, status: { conditions } } satisfies Namespace
}
const remaining =
  'Some resources are remaining: configmaps. has 1 resource instances, deployments.apps has 2 resource instances, applications.apps.sekisho.dev has 1 resource instances, rolebindings.rbac.authorization.k8s.io has 2 resource instances'

describe('a namespace', () => {
  test('is held by the kinds that remain, but those whose finalizers the platform sets', () => {
    expect(heldKinds(namespace(remaining), at(120))).toEqual([
      { plural: 'configmaps', group: '' },
      { plural: 'deployments', group: 'apps' },
    ])
  })

  test('is not held while it has only begun to end, without finalizers, or when it is not deleted', () => {
    expect(heldKinds(namespace(remaining), at(119))).toEqual([])
    expect(heldKinds(namespace(remaining, ''), at(120))).toEqual([])
    expect(heldKinds({ apiVersion, kind: 'Namespace', metadata: { name: 'acme' } }, at(120))).toEqual([])
    expect(heldKinds(undefined, at(120))).toEqual([])
  })
})

describe('the message', () => {
  const kind = { plural: 'deployments', group: 'apps' }
  const object = (name: string, finalizers: readonly string[]) => ({ apiVersion, kind: 'X', metadata: { name, finalizers } })

  test('names objects and finalizers, or the command that shows them', () => {
    const configMaps = { kind: { plural: 'configmaps', group: '' }, objects: undefined }
    const message = heldMessage('acme', [{ kind, objects: [object('shop', ['a.b/c']), object('free', [])] }, configMaps])
    expect(message).toContain('deployments.apps/shop (a.b/c), configmaps (kubectl get configmaps -n acme')
    expect(message).not.toContain('free')
  })

  test('counts many, and is absent when nothing is held', () => {
    const many = Array.from({ length: 9 }, (_, index) => object(`shop-${index}`, ['a.b/c']))
    expect(heldMessage('acme', [{ kind, objects: many }])).toContain('4 more deployments.apps')
    expect(heldMessage('acme', [{ kind, objects: [] }])).toBeUndefined()
  })
})
