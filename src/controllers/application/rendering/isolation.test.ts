// What a chart cannot give to the pods of an isolated Application, and what the Application itself can.
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../lib/json/json-value.ts'
import { chart } from '../../../services/charts/web.ts'
import { brokenIsolationRule, type Environment } from './isolation.ts'

const environment: Environment = {
  env: [
    { name: 'KEY', from: { secret: { name: 'sandbox', key: 'key' } } },
    { name: 'COLOUR', from: { configMap: { name: 'colours', key: 'sky' } } },
  ],
  envFrom: [{ secret: 'open' }, { configMap: 'flags' }],
}
const deployment = (spec: object) => ({ kind: 'Deployment', metadata: { name: 'd' }, spec: { template: { spec } } })
const container = (fields: object) => deployment({ containers: [{ name: 'web', ...fields }] })
const volume = (fields: object) => deployment({ volumes: [{ name: 'v', ...fields }] })
const claim = { kind: 'PersistentVolumeClaim', metadata: { name: 'shop-data' } }

describe('pods of an isolated Application', () => {
  test.each<[string, JsonObject, string]>([
    [
      'a Secret as environment',
      container({ envFrom: [{ secretRef: { name: 'appsecret-database' } }] }),
      'Secret appsecret-database',
    ],
    [
      'a key of a Secret',
      container({ env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 'appsecret-database', key: 'url' } } }] }),
      'Secret appsecret-database',
    ],
    ['a Secret that is not of an AppSecret', container({ envFrom: [{ secretRef: { name: 'sandbox' } }] }), 'Secret sandbox'],
    ['a Secret as files', volume({ secret: { secretName: 'appsecret-database' } }), 'Secret appsecret-database'],
    [
      'a Secret among projected files',
      volume({ projected: { sources: [{ secret: { name: 'appsecret-database' } }] } }),
      'Secret appsecret-database',
    ],
    ['a Secret of a driver', volume({ csi: { driver: 'd', nodePublishSecretRef: { name: 'x' } } }), 'Secret x'],
    ['a Secret of an init container', deployment({ initContainers: [{ envFrom: [{ secretRef: { name: 'x' } }] }] }), 'Secret x'],
    ['a ConfigMap of the tenant', container({ envFrom: [{ configMapRef: { name: 'internal' } }] }), 'ConfigMap internal'],
    ['a ConfigMap as files', volume({ configMap: { name: 'internal' } }), 'ConfigMap internal'],
    ['the volume of another Application', volume({ persistentVolumeClaim: { claimName: 'other-data' } }), 'other-data'],
    [
      'anything in a schedule',
      {
        kind: 'CronJob',
        metadata: { name: 'c' },
        spec: { jobTemplate: { spec: { template: { spec: { volumes: [{ secret: { secretName: 'x' } }] } } } } },
      },
      'Secret x',
    ],
  ])('do not get %s', (_what, object, named) => {
    expect(brokenIsolationRule(object, environment, [object, claim])).toContain(named)
  })

  test('get what the Application names and what the chart makes itself', () => {
    const made = { kind: 'ConfigMap', metadata: { name: 'made' } }
    const object = deployment({
      imagePullSecrets: [{ name: 'sekisho-registry-pull' }],
      containers: [
        {
          env: [{ name: 'KEY', valueFrom: { secretKeyRef: { name: 'appsecret-sandbox', key: 'key' } } }],
          envFrom: [{ secretRef: { name: 'appsecret-open' } }, { configMapRef: { name: 'flags' } }],
        },
      ],
      volumes: [{ configMap: { name: 'made' } }, { emptyDir: {} }, { persistentVolumeClaim: { claimName: 'shop-data' } }],
    })
    expect(brokenIsolationRule(object, environment, [object, made, claim])).toBeUndefined()
  })

  test('of the chart web are always allowed', () => {
    const objects = chart({
      ...{ name: 'shop', namespace: 'acme', image: 'i', hosts: ['h.example'], ingressClassName: 't', tls: false, attributes: {} },
      ...{ imagePullSecrets: ['sekisho-registry-pull'], isolated: true },
      env: environment.env ?? [],
      envFrom: environment.envFrom ?? [],
      processes: [{ name: 'web', port: 1, replicas: 1, cpu: '1m', memory: '1Mi' }],
      volumes: [{ name: 'data', size: '1Gi', path: '/data', accessMode: 'ReadWriteOnce', whenDeleted: 'Delete' }],
    })
    const rendered = JSON.parse(JSON.stringify(objects)) as { kind: string }[]
    expect(rendered.map(({ kind }) => kind)).toContain('PersistentVolumeClaim')
    for (const object of rendered) expect(brokenIsolationRule(object, environment, rendered)).toBeUndefined()
  })
})
