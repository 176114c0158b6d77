// What a former version left in the cluster: found by label and name, deleted when this version does not have it.
import { expect, test } from 'vitest'
import { parseAllDocuments, stringify } from 'yaml'
import { defined } from '../../../src/lib/json/defined.ts'
import type { Kubectl } from '../kubectl.ts'
import { removeStale } from './remove-stale.ts'
import { identityOf, type RenderedObject } from './rendered.ts'

const rbac = 'rbac.authorization.k8s.io/v1'
const policies = 'admissionregistration.k8s.io/v1'

function object(apiVersion: string, kind: string, name: string, namespace?: string): RenderedObject {
  return { apiVersion, kind, metadata: { name, ...defined({ namespace }) } }
}

/** A cluster that has these objects with our label, and a folder with those; what is deleted is added to `deleted`. */
function cluster({ has, folder }: { readonly has: readonly RenderedObject[]; readonly folder: readonly RenderedObject[] }) {
  const deleted: string[] = []
  const refuse = (): never => {
    throw new Error('only reads and deletions are expected')
  }
  const kubectl: Kubectl = {
    applyFolder: refuse,
    applyText: refuse,
    ask: refuse,
    run: async () => folder.map(item => stringify(item)).join('---\n'),
    read: async ([kinds = '', ...options]) => {
      const namespace = options.includes('-n') ? options[options.indexOf('-n') + 1] : undefined
      expect(options).toContain('app.kubernetes.io/part-of=sekisho')
      const asked = kinds.split(',')
      return { items: has.filter(item => asked.includes(item.kind.toLowerCase()) && item.metadata.namespace === namespace) }
    },
    deleteText: async text =>
      void deleted.push(...parseAllDocuments(text).map(document => identityOf(document.toJS() as RenderedObject))),
  }
  return { kubectl, deleted }
}

const folder = [
  object(rbac, 'ClusterRole', 'sekisho:broker'),
  object(rbac, 'ClusterRoleBinding', 'sekisho:standalone-broker'),
  object(rbac, 'Role', 'sekisho:broker', 'sekisho-system'),
  object(rbac, 'RoleBinding', 'sekisho:standalone-broker', 'sekisho-system'),
  object(policies, 'MutatingAdmissionPolicy', 'sekisho-pod-users'),
  object('v1', 'ServiceAccount', 'sekisho', 'sekisho-system'),
]

test('roles, bindings and policies that the folder does not have are deleted, and named', async () => {
  const stale = [
    object(rbac, 'ClusterRole', 'sekisho:platform'),
    object(rbac, 'ClusterRoleBinding', 'sekisho:platform'),
    object(policies, 'MutatingAdmissionPolicy', 'sekisho-former'),
    object(rbac, 'RoleBinding', 'sekisho:platform', 'sekisho-system'),
  ]
  const { kubectl, deleted } = cluster({ has: [...folder, ...stale], folder })
  expect(await removeStale(kubectl, '/overlay')).toEqual([
    'ClusterRole sekisho:platform',
    'ClusterRoleBinding sekisho:platform',
    'MutatingAdmissionPolicy sekisho-former',
    'RoleBinding sekisho:platform in sekisho-system',
  ])
  expect(deleted).toEqual(stale.map(identityOf))
})

test('nothing is deleted of other names, kinds and namespaces, or because an API has another version', async () => {
  const others = [
    object(rbac, 'ClusterRole', 'acme:broker'),
    object(rbac, 'RoleBinding', 'sekisho:controllers', 'acme'),
    object('v1', 'ServiceAccount', 'sekisho-former', 'sekisho-system'),
    object(`${policies}beta1`, 'MutatingAdmissionPolicy', 'sekisho-pod-users'),
  ]
  const { kubectl, deleted } = cluster({ has: [...folder.slice(0, 4), ...others], folder })
  expect(await removeStale(kubectl, '/overlay')).toEqual([])
  expect(deleted).toEqual([])
})
