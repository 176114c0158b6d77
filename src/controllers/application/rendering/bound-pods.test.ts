// What the pods of an Application get of its services, whatever its chart rendered; what a chart must not name; and what they
// reach.
import { describe, expect, test } from 'vitest'
import { objectAt } from '../../../lib/json/json-value.ts'
import { use } from '../services/testing/service-objects.ts'
import { boundService } from './bound-pods.ts'
import { application, podsIn, rendered, workloadsOf } from './testing/charted.ts'

const container = { name: 'main', env: [{ name: 'PORT', value: '3000' }], volumeMounts: [{ name: 'tmp', mountPath: '/tmp' }] }
const pod = {
  automountServiceAccountToken: false,
  initContainers: [{ name: 'first' }],
  containers: [container, { name: 'side' }],
  volumes: [{ name: 'tmp', emptyDir: {} }],
}
const { deployment, job, cronJob } = workloadsOf(pod)

const bound = [
  boundService(use({ env: { PGHOST: 'host', PORT: 'port' } }), 'shop-db-1', application.spec),
  boundService(use({ name: 'log', files: true }), 'shop-log-1', application.spec),
]

/** @throws when they are refused */
function manifests(objects: readonly object[], more: object) {
  const desired = rendered(objects, more)
  if (desired.kind === 'refused') throw new Error(desired.message)
  return desired.manifests
}
const podIn = (objects: readonly object[], more: object) => podsIn(rendered(objects, more)).map(([, spec]) => spec)

const keyOf = (name: string, secret: string, key: string) => ({ name, valueFrom: { secretKeyRef: { name: secret, key } } })

describe('the pods of an Application', () => {
  test('get variables and files in every container, and keep what the chart gave them', () => {
    const added = [
      keyOf('PGHOST', 'binding-shop-db-1', 'host'),
      keyOf('PORT', 'binding-shop-db-1', 'port'),
      keyOf('DATABASE_URL', 'binding-shop-log-1', 'uri'),
      { name: 'SERVICE_BINDING_ROOT', value: '/bindings' },
    ]
    const mount = { name: 'sekisho-binding-log', mountPath: '/bindings/log', readOnly: true }
    for (const spec of podIn([deployment(), cronJob], { bound }))
      expect(spec).toEqual({
        ...pod,
        initContainers: [{ name: 'first', env: added, volumeMounts: [mount] }],
        containers: [
          {
            ...container,
            // The platform's own wins.
            env: [...container.env, ...added.filter(({ name }) => name !== 'PORT')],
            volumeMounts: [...container.volumeMounts, mount],
          },
          { name: 'side', env: added, volumeMounts: [mount] },
        ],
        volumes: [...pod.volumes, { name: 'sekisho-binding-log', secret: { secretName: 'binding-shop-log-1' } }],
      })
  })

  test('have the files where the Application says', () => {
    const env = [{ name: 'SERVICE_BINDING_ROOT', value: '/etc/services' }]
    expect(boundService(use({ files: true }), 'b', { ...application.spec, env }).folder).toBe('/etc/services/db')
    expect(boundService(use(), 'b', { ...application.spec, env }).folder).toBeUndefined()
  })

  test('of Jobs of a chart, whose template never changes, and of an Application without services get nothing', () => {
    expect(podIn([job], { bound })).toEqual([pod])
    expect(podIn([deployment()], {})).toEqual([pod])
  })

  test('get the credential when they are isolated, which no chart may give them', () => {
    const isolated = { isolated: true, bound }
    expect(JSON.stringify(podIn([deployment()], isolated))).toContain('binding-shop-db-1')
    const planted = { ...pod, containers: [{ name: 'main', envFrom: [{ secretRef: { name: 'binding-shop-db-1' } }] }] }
    expect(() => podIn([deployment(planted)], isolated)).toThrow('must not refer to Secret binding-shop-db-1')
  })

  test('have no volume of a chart with a name of the platform', () => {
    const planted = { ...pod, volumes: [{ name: 'sekisho-binding-log', emptyDir: {} }] }
    expect(() => podIn([deployment(planted)], {})).toThrow("the volume sekisho-binding-log is the platform's")
  })
})

describe('what they reach', () => {
  const reach = [{ cidrs: ['10.0.7.12/32'], port: 5432 }]

  test('comes first, is the Application’s, and selects its pods and those of commands alone', () => {
    const [first, second, third] = manifests([deployment()], { bound, reach })
    expect(third?.kind).toBe('Deployment')
    expect([first, second].map(one => [one?.kind, one?.metadata.name, one && objectAt(one, 'spec', 'podSelector')])).toEqual([
      ['NetworkPolicy', 'sekisho-services-shop', { matchLabels: { 'sekisho.dev/application': 'shop' } }],
      ['NetworkPolicy', 'sekisho-services-shop-run', { matchLabels: { 'sekisho-cli/task-of': 'shop' } }],
    ])
    expect(first?.metadata.ownerReferences).toMatchObject([{ kind: 'Application', name: 'shop', controller: true }])
  })

  test('is nothing without services', () => {
    expect(manifests([deployment()], { reach: [] }).map(({ kind }) => kind)).toEqual(['Deployment'])
  })

  test('is no object that a chart may render', () => {
    const policy = { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', metadata: { name: 'open' }, spec: {} }
    expect(() => manifests([policy], {})).toThrow('NetworkPolicy may not be rendered')
  })
})
