// What a chart may render, and how a live object is compared with it.
import { describe, expect, test } from 'vitest'
import type { Application } from '../../../api/apps/application.ts'
import { objectAt } from '../../../lib/json/json-value.ts'
import { isFoundByOwner } from '../caches.ts'
import { redirectIngressName } from '../domains/redirects.ts'
import { entriesOf, mustBeNamedFirst, obsolete, union } from '../objects/inventory.ts'
import { contains, needsApply } from '../objects/needs-apply.ts'
import { desiredManifests, type Manifest, maxObjects } from './desired.ts'
import { podTemplatePath } from './pod-rules.ts'

const application: Application = {
  apiVersion: 'apps.sekisho.dev/v1alpha1',
  kind: 'Application',
  metadata: { name: 'shop', namespace: 'acme', uid: 'uid-1' },
  spec: { chart: 'web', processes: [{ name: 'web', port: 1, replicas: 1, cpu: '1m', memory: '1Mi' }] },
}

const allowed = { hosts: ['shop.acme.localhost'], ingressClassName: 'traefik' }

function ingress(spec: object): Record<string, unknown> {
  const rules = [{ host: 'shop.acme.localhost' }]
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: { name: 'i' },
    spec: { ingressClassName: 'traefik', rules, ...spec },
  }
}

const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { x: '1' } }

function deployment(pod: Record<string, unknown> = {}): Record<string, unknown> {
  const spec = { automountServiceAccountToken: false, containers: [{ name: 'web' }], ...pod }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'd' },
    spec: { template: { metadata: { labels: { a: 'b' } }, spec } },
  }
}

function cronJob(pod: Record<string, unknown>): Record<string, unknown> {
  const spec = { automountServiceAccountToken: false, containers: [{ name: 'tick' }], ...pod }
  return {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name: 'c' },
    spec: { jobTemplate: { spec: { template: { spec } } } },
  }
}

function wanted(...objects: readonly unknown[]): readonly Manifest[] {
  const desired = desiredManifests(application, objects, allowed)
  if (desired.kind === 'refused') throw new Error(desired.message)
  return desired.manifests
}

describe('rendered objects', () => {
  test('get the Application’s namespace, owner and labels, pods included', () => {
    const [manifest] = wanted(deployment())
    expect(manifest).toMatchObject({
      metadata: {
        namespace: 'acme',
        labels: { 'sekisho.dev/application': 'shop' },
        ownerReferences: [{ kind: 'Application', name: 'shop', uid: 'uid-1', controller: true }],
      },
      spec: { template: { metadata: { labels: { a: 'b', 'sekisho.dev/application': 'shop' } } } },
    })
  })

  test('are applied in an order in which an object exists before others refer to it', () => {
    expect(wanted(ingress({}), deployment(), configMap).map(manifest => manifest.kind)).toEqual([
      'ConfigMap',
      'Deployment',
      'Ingress',
    ])
  })

  test('of an isolated Application are cut off, whatever the chart says about its pods', () => {
    const pod = { serviceAccountName: 'deployer', serviceAccount: 'deployer', enableServiceLinks: true }
    const labelled = { 'sekisho.dev/isolated': 'false' }
    const rendered = deployment(pod)
    const spec = { template: { ...(rendered['spec'] as { template: object }).template, metadata: { labels: labelled } } }
    const desired = desiredManifests(application, [{ ...rendered, spec }, cronJob(pod)], { ...allowed, isolated: true })
    const manifests = desired.kind === 'wanted' ? desired.manifests : []
    const templates = manifests.map(manifest => objectAt(manifest, ...(podTemplatePath(manifest) ?? [])))
    expect(templates).toHaveLength(2)
    for (const template of templates) {
      expect(objectAt(template, 'metadata', 'labels')).toMatchObject({ 'sekisho.dev/isolated': 'true' })
      const own = objectAt(template, 'spec')
      expect(own).toMatchObject({ serviceAccountName: 'sekisho-isolated', enableServiceLinks: false })
      expect(own).not.toHaveProperty('serviceAccount')
    }
  })

  test('of an isolated Application get no Secret that a chart gives to all Applications', () => {
    const rendered = deployment({ containers: [{ name: 'web', envFrom: [{ secretRef: { name: 'appsecret-of-all' } }] }] })
    expect(desiredManifests(application, [rendered], { ...allowed, isolated: true })).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('Deployment d: pods of an isolated Application must not refer to Secret appsecret-of-all'),
    })
    expect(desiredManifests(application, [rendered], allowed).kind).toBe('wanted')
  })

  test('of other Applications keep what the chart says', () => {
    const [manifest] = wanted(deployment({ serviceAccountName: 'deployer' }))
    expect(manifest).toMatchObject({ spec: { template: { spec: { serviceAccountName: 'deployer' } } } })
    expect(JSON.stringify(manifest)).not.toContain('isolated')
  })

  const annotations = { 'example.com/redirect': 'true' }
  const redirects = [{ to: 'shop.acme.localhost', from: ['www.shop.acme.localhost'], annotations }]
  const leading = ingress({ rules: [{ host: 'shop.acme.localhost', http: { paths: [{ path: '/', backend: { x: 1 } }] } }] })

  test('are joined by the platform’s own Ingress for hosts that redirect, which belongs to the Application like the others', () => {
    const desired = desiredManifests(application, [leading], { ...allowed, redirects })
    expect(desired).toMatchObject({
      kind: 'wanted',
      manifests: [
        { metadata: { name: 'i' } },
        {
          apiVersion: 'networking.k8s.io/v1',
          kind: 'Ingress',
          metadata: {
            namespace: 'acme',
            labels: { 'sekisho.dev/application': 'shop', 'sekisho.dev/redirect': 'true' },
            annotations: { ...annotations, 'sekisho.dev/rendered-hash': expect.any(String) },
            ownerReferences: [{ uid: 'uid-1' }],
          },
          spec: { rules: [{ host: 'www.shop.acme.localhost' }] },
        },
      ],
    })
    expect(JSON.stringify(wanted(leading))).not.toContain('redirect')
  })

  test('cannot have the name of that Ingress, its hosts or its label', () => {
    const named = redirectIngressName('shop', 'shop.acme.localhost')
    const refused: readonly [object, string][] = [
      [
        { ...configMap, kind: 'Ingress', apiVersion: 'networking.k8s.io/v1', metadata: { name: named }, spec: leading['spec'] },
        'twice',
      ],
      [ingress({ rules: [{ host: 'www.shop.acme.localhost' }] }), 'input.hosts'],
      [{ ...leading, metadata: { name: 'i', labels: { 'sekisho.dev/redirect': 'true' }, annotations } }, 'must not be set'],
    ]
    for (const [object, words] of refused)
      expect(desiredManifests(application, [leading, object], { ...allowed, redirects })).toMatchObject({
        kind: 'refused',
        message: expect.stringContaining(words),
      })
  })

  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'a' } }
  test.each<[string, unknown, string]>([
    ['a Secret', { ...configMap, kind: 'Secret' }, 'v1 Secret may not be rendered'],
    ['a cluster-wide kind', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'x' } }, 'may not be rendered'],
    ['another version of a kind', { ...deployment(), apiVersion: 'apps/v1beta1' }, 'may not be rendered'],
    ['another namespace', { ...configMap, metadata: { name: 'a', namespace: 'other' } }, 'another namespace'],
    ['no name', { ...configMap, metadata: { generateName: 'a-' } }, 'no valid metadata.name'],
    ['a path as name', { ...configMap, metadata: { name: '../x' } }, 'no valid metadata.name'],
    ['a status', { ...configMap, status: {} }, 'has a status'],
    ['text', 'ConfigMap', 'must be a Kubernetes object'],
    [
      'labels that are not strings',
      { ...configMap, metadata: { name: 'a', labels: { a: 1 } } },
      'metadata.labels.a must be a string',
    ],
    ['a ServiceAccount with a token', account, 'automountServiceAccountToken: false'],
    ['a pod with a token', deployment({ automountServiceAccountToken: true }), 'automountServiceAccountToken must be false'],
    [
      'a pod that does not mention tokens',
      deployment({ automountServiceAccountToken: undefined }),
      'automountServiceAccountToken must be false',
    ],
    [
      'a projected token',
      deployment({ volumes: [{ name: 'v', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } }] }),
      'must not project',
    ],
    [
      'a volume of a reserved Secret',
      deployment({ volumes: [{ name: 'v', secret: { secretName: 'ghtok-x' } }] }),
      'Secret ghtok-x',
    ],
    [
      'a variable from a reserved Secret',
      deployment({
        containers: [{ name: 'c', env: [{ name: 'E', valueFrom: { secretKeyRef: { name: 'ghtok-x', key: 'k' } } }] }],
      }),
      'Secret ghtok-x',
    ],
    [
      'all of a reserved Secret',
      deployment({ initContainers: [{ name: 'c', envFrom: [{ secretRef: { name: 'ghtok-x' } }] }] }),
      'Secret ghtok-x',
    ],
    [
      'a Service that kube-proxy does not serve',
      { ...configMap, kind: 'Service', metadata: { name: 'a', labels: { 'service.kubernetes.io/service-proxy-name': '' } } },
      'service-proxy-name',
    ],
    ['a host that the Application does not have', ingress({ rules: [{ host: 'shop.other.localhost' }] }), 'shop.other.localhost'],
    ['every host', ingress({ rules: [{}] }), 'not none'],
    ['no host at all', ingress({ rules: [] }), 'one of input.hosts'],
    ['a default backend', ingress({ defaultBackend: { service: { name: 's' } } }), 'defaultBackend'],
    ['a certificate for another host', ingress({ tls: [{ hosts: ['shop.other.localhost'] }] }), 'shop.other.localhost'],
    ['another ingress class', ingress({ ingressClassName: 'internal' }), 'must be traefik'],
    ['a reserved pull Secret', deployment({ imagePullSecrets: [{ name: 'ghtok-x' }] }), 'Secret ghtok-x'],
  ])('%s is refused, and nothing of the rendering is applied', (_what, object, words) => {
    const desired = desiredManifests(application, [configMap, object], allowed)
    expect(desired).toMatchObject({ kind: 'refused' })
    expect(JSON.stringify(desired)).toContain(words)
  })

  test('two of one name, and too many, are refused', () => {
    expect(desiredManifests(application, [configMap, configMap], allowed)).toMatchObject({
      kind: 'refused',
      message: 'the chart rendered ConfigMap a twice',
    })
    const many = Array.from({ length: maxObjects + 1 }, (_, index) => ({ ...configMap, metadata: { name: `c${index}` } }))
    expect(desiredManifests(application, many, allowed)).toMatchObject({ kind: 'refused' })
  })
})

describe('comparing with the cluster', () => {
  const [manifest] = wanted(deployment())
  if (!manifest) throw new Error('nothing was rendered')
  const live = { ...structuredClone(manifest), status: { replicas: 1 } }

  test('what the server added does not matter', () => {
    expect(needsApply(manifest, live)).toBe(false)
    expect(contains({ a: [{ name: 'x', b: 1, c: 2 }, { name: 'sidecar' }] }, { a: [{ name: 'x', b: 1 }] })).toBe(true)
  })

  test('what others changed or removed, and what is rendered differently, does', () => {
    expect(contains({ a: 1 }, { a: 2 })).toBe(false)
    expect(contains({}, { a: 1 })).toBe(false)
    expect(contains({}, { a: [] })).toBe(true)
    expect(contains({ a: [1] }, { a: [] })).toBe(false)
    expect(contains({ a: [1, 2] }, { a: [1] })).toBe(false)
    expect(contains({ a: [{ name: 'y' }] }, { a: [{ name: 'x' }] })).toBe(false)
    const [other] = wanted(deployment({ enableServiceLinks: false }))
    if (!other) throw new Error('nothing was rendered')
    expect(needsApply(other, live)).toBe(true)
    expect(needsApply(manifest, structuredClone(other))).toBe(true)
  })
})

test('the inventory grows by what is created and shrinks by what is no longer rendered', () => {
  const wantedEntries = entriesOf(wanted(configMap, deployment()))
  const before = [{ apiVersion: 'v1', kind: 'Service', name: 'old' }, ...wantedEntries.slice(0, 1)]
  expect(union(before, wantedEntries)).toHaveLength(3)
  expect(obsolete(before, wantedEntries)).toEqual([{ apiVersion: 'v1', kind: 'Service', name: 'old' }])
  expect(obsolete(wantedEntries, wantedEntries)).toEqual([])
})

test('the inventory is written first exactly when a new object could not be found without it', () => {
  const wantedEntries = entriesOf(wanted(configMap, deployment()))
  const [deploymentEntry] = wantedEntries.filter(({ kind }) => kind === 'Deployment')
  const [configMapEntry] = wantedEntries.filter(({ kind }) => kind === 'ConfigMap')
  if (!deploymentEntry || !configMapEntry) throw new Error('entries are missing')
  expect(mustBeNamedFirst([], wantedEntries, isFoundByOwner)).toBe(true)
  expect(mustBeNamedFirst([], [deploymentEntry], isFoundByOwner)).toBe(false)
  expect(mustBeNamedFirst([configMapEntry], wantedEntries, isFoundByOwner)).toBe(false)
  expect(mustBeNamedFirst([{ ...configMapEntry, name: 'other' }], wantedEntries, isFoundByOwner)).toBe(true)
})

describe('volume claims', () => {
  const claim = (spec: object, annotations: object = {}) => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'shop-data', annotations },
    spec: { resources: { requests: { storage: '1Gi' } }, ...spec },
  })

  test.each([
    ['a volume by its name', { volumeName: 'pv-of-globex' }],
    ['a volume by labels', { selector: { matchLabels: { tenant: 'globex' } } }],
    ['the content of another volume', { dataSource: { kind: 'PersistentVolumeClaim', name: 'other' } }],
    ['content from another namespace', { dataSourceRef: { kind: 'PersistentVolumeClaim', name: 'a', namespace: 'globex' } }],
    ['volumes without a class, which an admin made for others', { storageClassName: '' }],
  ])('cannot ask for %s', (_what, spec) => {
    expect(desiredManifests(application, [claim(spec)], allowed)).toMatchObject({
      kind: 'refused',
      message: expect.stringMatching(/^PersistentVolumeClaim shop-data: spec\.\w+ must not be/),
    })
  })

  test('have no owner when they are to be kept', () => {
    const [kept] = wanted(claim({}, { 'sekisho.dev/when-deleted': 'Keep' }))
    const [deleted] = wanted(claim({}, { 'sekisho.dev/when-deleted': 'Delete' }))
    expect(kept?.metadata.ownerReferences).toBeUndefined()
    expect(deleted?.metadata.ownerReferences).toHaveLength(1)
    const keptDeployment = { ...deployment(), metadata: { name: 'd', annotations: { 'sekisho.dev/when-deleted': 'Keep' } } }
    expect(wanted(keptDeployment)[0]?.metadata.ownerReferences).toHaveLength(1)
  })
})

describe('annotations of pods', () => {
  test('are added to Deployments, and not to Jobs, whose template cannot change', () => {
    const job = { ...deployment(), apiVersion: 'batch/v1', kind: 'Job' }
    const desired = desiredManifests(application, [deployment(), job], {
      ...allowed,
      podAnnotations: { 'sekisho.dev/secrets': 'abc' },
    })
    if (desired.kind === 'refused') throw new Error(desired.message)
    const annotated = { spec: { template: { metadata: { annotations: { 'sekisho.dev/secrets': 'abc' } } } } }
    const [first, second] = desired.manifests
    expect(first).toMatchObject({ kind: 'Deployment', ...annotated })
    expect(JSON.stringify(second)).not.toContain('sekisho.dev/secrets')
  })
})
