// The fields of an Application at their bounds, on the API server: what is accepted, and what is refused with the field and the
// cure.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { application } from '../../src/api/apps/application.ts'
import { type JsonObject, objectAt, objectsAt, textAt } from '../../src/lib/json/json-value.ts'
import { amountOf, canonicalQuantity, type Quantity } from '../../src/lib/text/quantity.ts'
import { withNamespace } from '../fixtures/harness.ts'

type Spec = Readonly<Record<string, unknown>>

const web = { name: 'web', port: 3000 }
const cron = { name: 'nightly', schedule: '0 3 * * *' }
const volume = { name: 'data', size: '1Gi', path: '/data' }
const list = <T>(length: number, item: (index: number) => T): readonly T[] => Array.from({ length }, (_, index) => item(index))
const word = (length: number): string => 'a'.repeat(length)

/** Writes one Application, and then another spec into it. */
async function attempt(spec: Spec, next?: Spec, name = 'shop'): Promise<{ readonly status: number; readonly text: string }> {
  const { name: namespace, admin } = await withNamespace()
  const path = `/apis/${application.apiVersion}/namespaces/${namespace}/applications/${name}?fieldManager=test&fieldValidation=Strict`
  const put = (given: Spec) => {
    const { apiVersion, kind } = application
    const object = { apiVersion, kind, metadata: { name, namespace }, spec: given }
    return admin.request('PATCH', path, object, 'application/apply-patch+yaml')
  }
  const first = await put(spec)
  const answer = next === undefined || first.status >= 300 ? first : await put(next)
  return { status: answer.status, text: JSON.stringify(answer.body) }
}

const probe = { path: '/up', periodSeconds: 300, timeoutSeconds: 60, failureThreshold: 120 }

describe('an Application is accepted', () => {
  test.each<[string, Spec]>([
    ['without processes', {}],
    ['with none', { processes: [], cron: [cron] }],
    [
      'with every field of a process at its upper bound',
      {
        processes: [
          {
            ...web,
            port: 65_535,
            command: list(64, () => word(1024)),
            args: list(64, () => word(4096)),
            replicas: 50,
            autoscaling: { minReplicas: 50, maxReplicas: 50, cpuPercent: 1000 },
            probes: { startup: probe, liveness: probe, readiness: { ...probe, path: `/${word(511)}` } },
            cpu: '64',
            cpuLimit: '64000m',
            memory: '1024Gi',
            ephemeralStorage: '1024Gi',
            gracePeriodSeconds: 3600,
            rollout: { maxSurge: 50, maxUnavailable: 50 },
          },
        ],
      },
    ],
    [
      'with quantities as Kubernetes has them',
      {
        processes: [
          { ...web, cpu: 1, cpuLimit: '1e3', memory: 536_870_912, ephemeralStorage: '512M' },
          { name: 'worker', cpu: '0.5', cpuLimit: 1, memory: '1.5Gi' },
        ],
        cron: [{ ...cron, cpu: '.25', memory: '1e9' }],
      },
    ],
    [
      'with every field of a process at its lower bound',
      {
        processes: [
          {
            name: 'a',
            port: 1,
            replicas: 0,
            autoscaling: { minReplicas: 1, maxReplicas: 1, cpuPercent: 1 },
            probes: { liveness: { command: ['x'], periodSeconds: 1, timeoutSeconds: 1, failureThreshold: 1 } },
            gracePeriodSeconds: 10,
            rollout: { maxSurge: 0, maxUnavailable: 1 },
            ephemeralStorage: '1Mi',
          },
        ],
      },
    ],
    [
      'with as much of everything as it may have',
      {
        processes: list(10, index => ({ name: `p${index}`, port: 80 })),
        cron: list(20, index => ({ ...cron, name: `c${index}`, timeZone: 'America/Argentina/Buenos_Aires', keepFailed: 10 })),
        volumes: list(10, index => ({ name: `v${index}`, size: '1Mi', path: `/data/${index}`, processes: ['p0'] })),
        env: list(200, index => ({ name: `A${index}`, value: word(4096) })),
        envFrom: list(20, index => (index % 2 === 0 ? { configMap: `c${index}` } : { secret: `s${index}` })),
      },
    ],
    [
      'with headers of its checks',
      {
        processes: [
          {
            ...web,
            healthPath: '/',
            healthHeaders: [
              { name: 'X-Forwarded-Proto', value: 'https' },
              { name: 'Host', value: 'a.b' },
            ],
          },
        ],
      },
    ],
    ['with every schedule word', { cron: [{ ...cron, schedule: '@daily' }] }],
    [
      'with values from a ConfigMap and an AppSecret',
      {
        env: [
          { name: 'A', from: { configMap: { name: 'settings', key: 'a.b-c_d' } } },
          { name: 'B', from: { secret: { name: 'shop', key: 'B' } } },
          { name: 'C', value: '' },
        ],
      },
    ],
    [
      'with as many host names and redirects as it may have',
      {
        domains: list(20, index => `${word(60)}.${word(60)}.${word(60)}.d${index}.example.com`),
        redirects: list(20, index => ({
          from: `${word(60)}.${word(60)}.${word(60)}.r${index}.example.com`,
          to: `${word(60)}.${word(60)}.${word(60)}.d19.example.com`,
        })),
      },
    ],
    ['with a certificate of its own', { tls: { secretName: 'shop-certificate' } }],
    ['with a certificate that cert-manager issues', { tls: { certManager: { issuer: 'letsencrypt' } } }],
  ])('%s', async (_what, spec) => {
    const { status, text } = await attempt(spec)
    expect(text).not.toContain('"kind":"Status"')
    expect(status).toBe(201)
  })

  test('as in the example of the guide', async () => {
    const text = readFileSync(join(import.meta.dirname, '../../deploy/examples/parts/application.yaml'), 'utf8')
    const { status, text: answer } = await attempt((parse(text) as { readonly spec: Spec }).spec)
    expect(answer).not.toContain('"kind":"Status"')
    expect(status).toBe(201)
  })

  test('and a volume may grow', async () => {
    expect((await attempt({ volumes: [volume] }, { volumes: [{ ...volume, size: '2048Mi' }] })).status).toBe(200)
  })
})

describe('an Application is refused', () => {
  test.each<[string, Spec, RegExp]>([
    ['a process web without a port', { processes: [{ name: 'web' }] }, /processes\[web\]\.port must be set/],
    ['more processes than ten', { processes: list(11, index => ({ name: `p${index}` })) }, /spec\.processes: Too many/],
    [
      'an autoscaler with its bounds the wrong way round',
      { processes: [{ ...web, autoscaling: { minReplicas: 3, maxReplicas: 2 } }] },
      /minReplicas must not be greater/,
    ],
    [
      'a probe with a path and a command',
      { processes: [{ ...web, probes: { liveness: { path: '/', command: ['a'] } } }] },
      /exactly one of path and command/,
    ],
    ['a probe with neither', { processes: [{ ...web, probes: { startup: {} } }] }, /exactly one of path and command/],
    [
      'a probe with a path and no port',
      { processes: [{ name: 'worker', probes: { liveness: { path: '/' } } }] },
      /port must be set/,
    ],
    [
      'a health path and a readiness probe',
      { processes: [{ ...web, healthPath: '/', probes: { readiness: { path: '/' } } }] },
      /healthPath or probes\.readiness, not both/,
    ],
    [
      'headers for a check that is none of HTTP',
      { processes: [{ ...web, healthHeaders: [{ name: 'Host', value: 'a' }] }] },
      /healthHeaders are sent by checks of HTTP only/,
    ],
    [
      'a header whose name is none',
      { processes: [{ ...web, healthPath: '/', healthHeaders: [{ name: 'a b', value: 'c' }] }] },
      /healthHeaders\[0\]\.name/,
    ],
    [
      'a header whose value begins another',
      { processes: [{ ...web, healthPath: '/', healthHeaders: [{ name: 'a', value: 'b\r\nc: d' }] }] },
      /healthHeaders\[0\]\.value/,
    ],
    [
      'more headers than eight',
      { processes: [{ ...web, healthPath: '/', healthHeaders: list(9, index => ({ name: `h${index}`, value: '' })) }] },
      /healthHeaders: Too many/,
    ],
    [
      'a limit of CPU below what is reserved',
      { processes: [{ ...web, cpu: '1', cpuLimit: '999m' }] },
      /cpuLimit must not be lower than cpu/,
    ],
    [
      'a limit of CPU below a number',
      { processes: [{ ...web, cpu: 2, cpuLimit: '1.5' }] },
      /cpuLimit must not be lower than cpu/,
    ],
    ['a number with a fraction', { processes: [{ ...web, cpu: 0.5 }] }, /spec\.processes\[0\]\.cpu/],
    ['memory in thousandths of a byte', { processes: [{ ...web, memory: '512m' }] }, /memory: .*write 512 mebibytes as 512Mi/],
    ['memory in single bytes', { processes: [{ ...web, memory: 512 }] }, /memory: .*write 512 mebibytes as 512Mi/],
    ['a quantity below zero', { processes: [{ ...web, cpu: -1 }] }, /spec\.processes\[0\]\.cpu/],
    ['a quantity with another unit', { processes: [{ ...web, memory: '512MB' }] }, /spec\.processes\[0\]\.memory/],
    ['a limit of CPU below the default', { processes: [{ ...web, cpuLimit: '49m' }] }, /cpuLimit must not be lower than cpu/],
    [
      'a rollout that can replace nothing',
      { processes: [{ ...web, rollout: { maxSurge: 0, maxUnavailable: 0 } }] },
      /must not both be 0/,
    ],
    [
      'a grace period that the pause before SIGTERM would use up',
      { processes: [{ ...web, gracePeriodSeconds: 9 }] },
      /gracePeriodSeconds/,
    ],
    [
      'a cron entry with the name of a process',
      { processes: [web], cron: [{ ...cron, name: 'web' }] },
      /must not have the same name/,
    ],
    [
      'a redirect to a host that is not its own',
      { domains: ['example.com'], redirects: [{ from: 'www.example.com', to: 'example.org' }] },
      /spec\.redirects: .*redirects\[\]\.to must be one of spec\.domains/,
    ],
    [
      'a redirect without domains',
      { redirects: [{ from: 'www.example.com', to: 'example.com' }] },
      /redirects\[\]\.to must be one of spec\.domains/,
    ],
    [
      'a redirect to itself',
      { domains: ['example.com'], redirects: [{ from: 'example.com', to: 'example.com' }] },
      /redirects\[\]\.from must not be one of spec\.domains/,
    ],
    [
      'a loop of redirects',
      {
        domains: ['a.example.com', 'b.example.com'],
        redirects: [
          { from: 'a.example.com', to: 'b.example.com' },
          { from: 'b.example.com', to: 'a.example.com' },
        ],
      },
      /redirects\[\]\.from must not be one of spec\.domains/,
    ],
    [
      'a redirect of every host',
      { domains: ['example.com'], redirects: [{ from: '*.example.com', to: 'example.com' }] },
      /spec\.redirects\[0\]\.from/,
    ],
    ['a schedule of six fields', { cron: [{ ...cron, schedule: '* * * * * *' }] }, /spec\.cron\[0\]\.schedule/],
    ['a schedule with a time zone in it', { cron: [{ ...cron, schedule: 'TZ=UTC 0 3 * * *' }] }, /spec\.cron\[0\]\.schedule/],
    ['a schedule of every second', { cron: [{ ...cron, schedule: '@every 1s' }] }, /spec\.cron\[0\]\.schedule/],
    ['a time zone that is a path', { cron: [{ ...cron, timeZone: '../etc/passwd' }] }, /spec\.cron\[0\]\.timeZone/],
    ['two volumes at one path', { volumes: [volume, { ...volume, name: 'more' }] }, /must not have the same path/],
    ['a volume over the folder of temporary files', { volumes: [{ ...volume, path: '/tmp' }] }, /must not be \/tmp/],
    ['a volume that leaves its path', { volumes: [{ ...volume, path: '/data/../proc' }] }, /contain \. or \.\./],
    [
      'a volume for a process that does not exist',
      { processes: [web], volumes: [{ ...volume, processes: ['worker'] }] },
      /must name processes of this Application/,
    ],
    [
      'a volume for web where there is no web',
      { processes: [{ name: 'worker' }], volumes: [volume] },
      /must name processes of this Application/,
    ],
    [
      'two processes with a volume for one',
      { volumes: [{ ...volume, processes: ['web', 'worker'] }] },
      /one process mounts a ReadWriteOnce volume/,
    ],
    ['two pods with a volume for one', { processes: [{ ...web, replicas: 2 }], volumes: [volume] }, /has at most one pod/],
    [
      'an autoscaler with a volume for one pod',
      { processes: [{ ...web, autoscaling: { maxReplicas: 2 } }], volumes: [volume] },
      /has at most one pod/,
    ],
    [
      'a variable with a value and a source',
      { env: [{ name: 'A', value: '1', from: { secret: { name: 'a', key: 'b' } } }] },
      /exactly one of value and from/,
    ],
    ['a variable with neither', { env: [{ name: 'A' }] }, /exactly one of value and from/],
    [
      'a variable from two sources',
      { env: [{ name: 'A', from: { secret: { name: 'a', key: 'b' }, configMap: { name: 'a', key: 'b' } } }] },
      /exactly one of configMap and secret/,
    ],
    ['more variables than 200', { env: list(201, index => ({ name: `A${index}`, value: '' })) }, /spec\.env: Too many/],
    ['a certificate in a Secret of the platform', { tls: { secretName: 'sekisho-registry-pull' } }, /belong to the platform/],
    ['a certificate in the Secret of an AppSecret', { tls: { secretName: 'appsecret-shop' } }, /belong to the platform/],
    [
      'a certificate from two places',
      { tls: { secretName: 'a', certManager: { issuer: 'b' } } },
      /exactly one of secretName and certManager/,
    ],
  ])('%s', async (_what, spec, says) => {
    const { status, text } = await attempt(spec)
    expect(text).toMatch(says)
    expect(status).toBe(422)
  })

  test.each<[string, Spec, RegExp]>([
    ['a volume that shrinks', { ...volume, size: '1023Mi' }, /a volume never shrinks/],
    ['a volume that changes its class', { ...volume, storageClass: 'fast' }, /cannot change/],
    ['a volume that changes its access mode', { ...volume, accessMode: 'ReadWriteMany' }, /cannot change/],
  ])('%s', async (_what, changed, says) => {
    const { status, text } = await attempt({ volumes: [volume] }, { volumes: [changed] })
    expect(text).toMatch(says)
    expect(status).toBe(422)
  })
})

test.each(['12factor', 'a.b', 'a'.repeat(64)])(
  'an Application named %s is refused when it is made, with the rule',
  async name => {
    const { status, text } = await attempt({}, undefined, name)
    expect([status, text]).toEqual([422, expect.stringMatching(/metadata\.name must begin with a letter and be a DNS label/)])
  },
)

test('quantities are written as the API server stores them, so that a second look finds no difference', async () => {
  const { name: namespace, admin } = await withNamespace()
  const quantities: readonly Quantity[] = [
    ...[0, 1, 2000, 536_870_912, '1.', '.25', '0.5', '1500m', '100u', '1n', '12e5', '1e3', '1E3', '1e-2'],
    ...['512M', '1000k', '1.5G', '1E', '512Ki', '1024Mi', '1000Mi', '1.5Gi', '0.1Gi', '0.5Ki', '1Ei'],
  ]
  const path = `/api/v1/namespaces/${namespace}/podtemplates?dryRun=All`
  /** As the API server stores them for containers. */
  const stored = async (given: readonly Quantity[]): Promise<readonly string[]> => {
    const containers = given.map((cpu, index) => ({ name: `c${index}`, image: 'x', resources: { requests: { cpu } } }))
    const template = { spec: { containers } }
    const object = { apiVersion: 'v1', kind: 'PodTemplate', metadata: { name: 'quantities' }, template }
    const answer = (await admin.call('POST', path, object)) as JsonObject
    const found = objectsAt(objectAt(answer, 'template', 'spec'), 'containers')
    return found.map(container => textAt(objectAt(container, 'resources', 'requests'), 'cpu') ?? '')
  }
  const written = quantities.map(canonicalQuantity)
  expect(await stored(written)).toEqual(written)
  expect((await stored(quantities)).map(amountOf)).toEqual(written.map(amountOf))
})
