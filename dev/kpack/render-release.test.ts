// The templates of kpack are filled in and its permissions are reduced, on documents of the same shape.
import { expect, test } from 'vitest'
import { managedByLabel, managedByUs } from './kubernetes-object.ts'
import { renderRelease } from './render-release.ts'

function deployment(name: string): string {
  return `apiVersion: apps/v1
kind: Deployment
metadata: { name: ${name}, namespace: kpack }
spec:
  template:
    metadata:
      labels:
        app: ${name}
        version: #@ data.values.kpack_version
    spec:
      containers:
      - name: server
        image: #@ data.values.x.image
        env: [{ name: A, value: b }]
        resources: { limits: { cpu: 100m } }`
}

const files = new Map([
  ['schema.yaml', 'not: an object'],
  [
    'controller.yaml',
    `#@ load("@ytt:data", "data")\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: { name: rebase-image, namespace: kpack }\ndata:\n  image: #@ data.values.rebase.image\n---\n${deployment('kpack-controller')}`,
  ],
  ['webhook.yaml', deployment('kpack-webhook')],
  [
    'controllerrole.yaml',
    'apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: { name: kpack-controller-admin }\nrules:\n- { apiGroups: [""], resources: [secrets, namespaces], verbs: [get] }\n- { apiGroups: [""], resources: [secrets], verbs: [list] }\n',
  ],
])
const rendered = renderRelease(files, { image: 'registry/kpack@sha256:1', version: '0.17.2' })

function find(kind: string, name: string): Record<string, unknown> {
  const object = rendered.find(item => item.kind === kind && item.metadata.name === name)
  if (!object) throw new Error(`${kind} ${name} is missing`)
  return object
}

test('every object is labelled, and files that are not objects are left out', () => {
  expect(rendered.map(object => object.metadata.labels?.[managedByLabel])).toEqual([
    managedByUs,
    managedByUs,
    managedByUs,
    managedByUs,
  ])
})

test('images, commands and the version are filled in and the rest of a container stays', () => {
  expect(find('ConfigMap', 'rebase-image')).toMatchObject({ data: { image: 'registry/kpack@sha256:1' } })
  expect(find('Deployment', 'kpack-webhook')).toMatchObject({
    spec: {
      template: {
        metadata: { labels: { app: 'kpack-webhook', version: '0.17.2' } },
        spec: { containers: [{ image: 'registry/kpack@sha256:1', command: ['/webhook'], env: [{ name: 'A', value: 'b' }] }] },
      },
    },
  })
})

test('the controller cannot read Secrets', () => {
  expect(find('ClusterRole', 'kpack-controller-admin')).toMatchObject({ rules: [{ resources: ['namespaces'], verbs: ['get'] }] })
  expect(JSON.stringify(find('ClusterRole', 'kpack-controller-admin'))).not.toContain('secrets')
})

test('a kpack with another layout is refused, not installed in part', () => {
  const partial = new Map([...files].filter(([name]) => name !== 'webhook.yaml'))
  expect(() => renderRelease(partial, { image: 'x', version: '9' })).toThrow('kpack-webhook')
})
