// The built-in chart: what a developer relies on, and what Pod Security `restricted` demands.
import { describe, expect, test } from 'vitest'
import type { ChartInput } from './chart-input.ts'
import { maxNameLengths, objectName } from './web/names.ts'
import { chart } from './web.ts'

const input: ChartInput = {
  name: 'shop',
  namespace: 'acme',
  image: 'registry.example.com/acme/shop@sha256:1111111111111111111111111111111111111111111111111111111111111111',
  commit: 'b'.repeat(40),
  processes: [
    { name: 'web', port: 3000, replicas: 2, healthPath: '/healthz', cpu: '50m', memory: '64Mi' },
    { name: 'worker', command: ['node', 'worker.js'], replicas: 1, cpu: '100m', memory: '128Mi' },
  ],
  env: [
    { name: 'GREETING', value: 'hello' },
    { name: 'PORT', value: '1' },
  ],
  attributes: {},
  hosts: ['shop.acme.localhost', 'shop.example.com'],
  ingressClassName: 'traefik',
  tls: false,
}

type Rendered = { readonly kind: string; readonly metadata: { readonly name: string }; readonly spec: Record<string, unknown> }

function render(changes: Partial<ChartInput> = {}): Rendered[] {
  return JSON.parse(JSON.stringify(chart({ ...input, ...changes }))) as Rendered[]
}

function named(objects: readonly Rendered[], kind: string, name: string): Rendered {
  const found = objects.find(object => object.kind === kind && object.metadata.name === name)
  if (!found) throw new Error(`no ${kind} ${name}`)
  return found
}

describe('chart web', () => {
  test('makes a Deployment for each process and a Service and an Ingress for web', () => {
    expect(render().map(object => `${object.kind}/${object.metadata.name}`)).toEqual([
      'Deployment/shop-web',
      'Deployment/shop-worker',
      'Service/shop',
      'Ingress/shop',
    ])
  })

  test('an application without web or without hosts has no Service and no Ingress', () => {
    const kinds = (objects: readonly Rendered[]): string[] => objects.map(object => object.kind)
    expect(kinds(render({ processes: input.processes.slice(1) }))).toEqual(['Deployment'])
    expect(kinds(render({ hosts: [] }))).toEqual(['Deployment', 'Deployment'])
  })

  test('keeps the running version while the next one starts', () => {
    expect(named(render(), 'Deployment', 'shop-web').spec).toMatchObject({
      strategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
      template: { spec: { containers: [{ readinessProbe: { httpGet: { path: '/healthz', port: 3000 } } }] } },
    })
  })

  test('checks by HTTP send the headers of the process, and a check of the port none', () => {
    const [web] = input.processes
    if (web === undefined) throw new Error('no process')
    const healthHeaders = [{ name: 'X-Forwarded-Proto', value: 'https' }]
    const probes = { startup: { path: '/up', periodSeconds: 1, timeoutSeconds: 1, failureThreshold: 9 } }
    const containerOf = (process: ChartInput['processes'][number]): unknown => {
      const { template } = named(render({ processes: [process] }), 'Deployment', 'shop-web').spec as {
        readonly template: { readonly spec: { readonly containers: readonly unknown[] } }
      }
      return template.spec.containers[0]
    }
    expect(containerOf({ ...web, healthHeaders, probes })).toMatchObject({
      readinessProbe: { httpGet: { path: '/healthz', httpHeaders: healthHeaders } },
      startupProbe: { httpGet: { path: '/up', httpHeaders: healthHeaders } },
    })
    expect(containerOf(web)).toMatchObject({ readinessProbe: { httpGet: { path: '/healthz', port: 3000 } } })
    expect(JSON.stringify(containerOf(web))).not.toContain('httpHeaders')
  })

  test('the platform sets PORT and SEKISHO_COMMIT even when the Application sets them', () => {
    expect(named(render(), 'Deployment', 'shop-web').spec).toMatchObject({
      template: {
        spec: {
          containers: [
            {
              env: [
                { name: 'GREETING', value: 'hello' },
                { name: 'PORT', value: '3000' },
                { name: 'SEKISHO_COMMIT', value: 'b'.repeat(40) },
              ],
            },
          ],
        },
      },
    })
  })

  test('every pod satisfies Pod Security restricted, has no token and a read-only root file system', () => {
    for (const name of ['shop-web', 'shop-worker'])
      expect(named(render(), 'Deployment', name).spec).toMatchObject({
        template: {
          spec: {
            automountServiceAccountToken: false,
            securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
            containers: [
              {
                securityContext: {
                  allowPrivilegeEscalation: false,
                  capabilities: { drop: ['ALL'] },
                  readOnlyRootFilesystem: true,
                },
              },
            ],
            volumes: [{ name: 'tmp', emptyDir: { sizeLimit: '256Mi' } }],
          },
        },
      })
  })

  test('an attribute makes the root file system writable', () => {
    const objects = render({ attributes: { 'writable-root-filesystem': 'true' } })
    expect(named(objects, 'Deployment', 'shop-web').spec).toMatchObject({
      template: { spec: { containers: [{ securityContext: { readOnlyRootFilesystem: false } }] } },
    })
  })

  test('the Ingress names class and hosts, and TLS where the platform serves it', () => {
    expect(named(render(), 'Ingress', 'shop').spec).toMatchObject({
      ingressClassName: 'traefik',
      rules: [{ host: 'shop.acme.localhost' }, { host: 'shop.example.com' }],
    })
    expect(named(render({ tls: true }), 'Ingress', 'shop').spec['tls']).toEqual([{ hosts: [...input.hosts] }])
  })
})

describe('names', () => {
  test('that fit are plain, those that do not are cut and end in a hash of the whole', () => {
    expect(objectName('shop', 'web', 63)).toBe('shop-web')
    const [one, other] = ['a', 'b'].map(end => objectName('x'.repeat(40), `${'y'.repeat(39)}${end}`, maxNameLengths.cronJob))
    for (const name of [one, other]) expect(name).toMatch(/^x{40}-[0-9a-f]{10}$/)
    expect(one).not.toBe(other)
    expect(objectName('x'.repeat(40), `${'y'.repeat(39)}a`, maxNameLengths.cronJob)).toBe(one)
  })
})

describe('what a process asks for', () => {
  const webOf = (process: object, more: Partial<ChartInput> = {}) =>
    render({ ...more, processes: [{ name: 'web', port: 3000, replicas: 2, cpu: '50m', memory: '64Mi', ...process }] })

  test('an autoscaler has the number of pods, and none while the Application is suspended', () => {
    const autoscaling = { minReplicas: 1, maxReplicas: 3, cpuPercent: 80 }
    expect(named(webOf({ autoscaling }), 'Deployment', 'shop-web').spec).not.toHaveProperty('replicas')
    expect(named(webOf({ autoscaling }), 'HorizontalPodAutoscaler', 'shop-web').spec).toMatchObject({
      minReplicas: 1,
      maxReplicas: 3,
    })
    const suspended = webOf({ autoscaling }, { suspend: true })
    expect(named(suspended, 'Deployment', 'shop-web').spec['replicas']).toBe(0)
    expect(suspended.some(({ kind }) => kind === 'HorizontalPodAutoscaler')).toBe(false)
    expect(suspended.some(({ kind }) => kind === 'Ingress')).toBe(true)
  })

  test('a volume for one pod is mounted by its process alone, which is stopped before its next version', () => {
    const volume = { name: 'data', size: '1Gi', path: '/data', accessMode: 'ReadWriteOnce', whenDeleted: 'Keep' } as const
    const objects = render({ volumes: [volume] })
    expect(named(objects, 'Deployment', 'shop-web').spec).toMatchObject({
      strategy: { type: 'Recreate' },
      template: { spec: { securityContext: { fsGroup: 1000, runAsNonRoot: true } } },
    })
    expect(JSON.stringify(named(objects, 'Deployment', 'shop-worker'))).not.toContain('persistentVolumeClaim')
    expect(named(objects, 'PersistentVolumeClaim', 'shop-data')).toMatchObject({
      metadata: { annotations: { 'sekisho.dev/when-deleted': 'Keep' } },
    })
  })

  test('pods of schedules are as restricted as others', () => {
    const cron = {
      name: 'nightly',
      schedule: '@daily',
      concurrency: 'Forbid',
      keepSucceeded: 1,
      keepFailed: 1,
      timeoutSeconds: 9,
    } as const
    const spec = named(render({ cron: [{ ...cron, cpu: '1m', memory: '1Mi' }] }), 'CronJob', 'shop-nightly').spec
    expect(spec).toMatchObject({
      jobTemplate: {
        spec: {
          template: {
            spec: {
              automountServiceAccountToken: false,
              enableServiceLinks: false,
              securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
              containers: [{ securityContext: { capabilities: { drop: ['ALL'] }, readOnlyRootFilesystem: true } }],
            },
          },
        },
      },
    })
  })
})
