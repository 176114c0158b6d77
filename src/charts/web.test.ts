// The built-in chart: what a developer relies on, and what Pod Security `restricted` demands.
import { describe, expect, test } from 'vitest'
import type { ChartInput } from './chart-input.ts'
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
