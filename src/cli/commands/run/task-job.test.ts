import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Application } from '../../../api/apps/application.ts'
import type { RemoteSync } from '../../../api/apps/remote-sync.ts'
import type { Pod } from '../../../api/builtin/core.ts'
import type { Deployment } from '../../../api/builtin/workloads.ts'
import { labels } from '../../../api/names.ts'
import { awkwardText, seenIn } from '../../../api/pods/testing/kubelet-expansion.ts'
import { objectsAt } from '../../../lib/json/json-value.ts'
import { builtFolder, deploymentFor, taskJob } from './task-job.ts'
import { endOf } from './task-pod.ts'

const application = { metadata: { name: 'shop', namespace: 'acme' }, spec: {} } as unknown as Application

function deployment(process: string, container: object = {}, spec: object = {}): Deployment {
  return {
    metadata: { name: `shop-${process}`, labels: { [labels.process]: process } },
    spec: {
      template: {
        metadata: { labels: { [labels.application]: 'shop', [labels.process]: process } },
        spec: {
          automountServiceAccountToken: false,
          securityContext: { runAsNonRoot: true },
          imagePullSecrets: [{ name: 'sekisho-registry-pull' }],
          containers: [
            {
              name: process,
              image: 'registry.example/shop@sha256:1',
              args: ['serve'],
              env: [{ name: 'DATABASE_URL', valueFrom: { secretKeyRef: { name: 'appsecret-shop', key: 'DATABASE_URL' } } }],
              securityContext: { readOnlyRootFilesystem: true },
              readinessProbe: { tcpSocket: { port: 1 } },
              ports: [{ containerPort: 1 }],
              volumeMounts: [
                { name: 'tmp', mountPath: '/tmp' },
                { name: 'data', mountPath: '/data' },
              ],
              ...container,
            },
          ],
          volumes: [
            { name: 'tmp', emptyDir: {} },
            { name: 'data', persistentVolumeClaim: { claimName: 'shop-data' } },
          ],
          ...spec,
        },
      },
    },
  } as unknown as Deployment
}

const task = {
  command: ['node', 'migrate.js'],
  process: undefined,
  timeoutSeconds: 60,
  detach: false,
  volumes: false,
  buildpacks: false,
  input: 'none' as const,
  ownPrefix: undefined,
}
const podOf = (from: Deployment, changes: object = {}) =>
  taskJob(application, from, { ...task, ...changes }).spec as { readonly template: { readonly spec: Record<string, unknown> } }

test('nothing in it belongs to the domain of the platform, which refuses that from people', () => {
  const from = deployment('web')
  const annotated = {
    ...from,
    spec: {
      template: {
        ...from.spec?.template,
        metadata: { annotations: { 'sekisho.dev/secrets': '1', 'apps.sekisho.dev/x': '1', 'example.com/kept': 'yes' } },
      },
    },
  } as unknown as Deployment
  const job = taskJob(application, annotated, task)
  expect(JSON.stringify(job)).not.toMatch(/sekisho\.dev/)
  expect(job.spec).toMatchObject({ template: { metadata: { annotations: { 'example.com/kept': 'yes' } } } })
})

test('the pod has the image, the environment and the restrictions of the process, and no probe, port or label of it', () => {
  const job = taskJob(application, deployment('web'), task)
  expect(JSON.stringify(job)).not.toMatch(/Probe|containerPort|"serve"/)
  expect(JSON.stringify(job)).not.toContain(labels.application)
  expect(job.spec).toMatchObject({
    backoffLimit: 0,
    activeDeadlineSeconds: 60,
    template: {
      spec: {
        automountServiceAccountToken: false,
        restartPolicy: 'Never',
        securityContext: { runAsNonRoot: true },
        imagePullSecrets: [{ name: 'sekisho-registry-pull' }],
        containers: [
          {
            name: 'task',
            image: 'registry.example/shop@sha256:1',
            command: ['node', 'migrate.js'],
            env: [{ name: 'DATABASE_URL', valueFrom: { secretKeyRef: { name: 'appsecret-shop', key: 'DATABASE_URL' } } }],
            securityContext: { readOnlyRootFilesystem: true },
          },
        ],
      },
    },
  })
})

test('volumes of the process are mounted when asked for, because some can only be mounted once', () => {
  expect(JSON.stringify(podOf(deployment('web')).template.spec)).not.toContain('shop-data')
  expect(podOf(deployment('web'), { volumes: true }).template.spec).toMatchObject({
    volumes: [{ name: 'tmp' }, { persistentVolumeClaim: { claimName: 'shop-data' } }],
    containers: [{ volumeMounts: [{ name: 'tmp' }, { name: 'data' }] }],
  })
})

test('in an image of buildpacks the command runs with their environment', () => {
  const launched = { containers: [{ command: ['/cnb/lifecycle/launcher', '--', 'node', 'migrate.js'] }] }
  expect(podOf(deployment('web'), { buildpacks: true }).template.spec).toMatchObject(launched)
  expect(podOf(deployment('web', { command: ['/cnb/process/web'] })).template.spec).toMatchObject(launched)
})

test('the command arrives as it was typed', () => {
  fc.assert(
    fc.property(fc.array(awkwardText, { minLength: 1, maxLength: 4 }), command => {
      const [container] = objectsAt(podOf(deployment('web'), { command }).template.spec, 'containers')
      expect(seenIn(container ?? {}, { DATABASE_URL: 'hunter2' }).command).toEqual(command)
    }),
  )
})

test('a task resembles the web process, the one that is named, or the only one', () => {
  const all = [deployment('worker'), deployment('web')]
  expect(deploymentFor('shop', all, undefined).metadata.name).toBe('shop-web')
  expect(deploymentFor('shop', all, 'worker').metadata.name).toBe('shop-worker')
  expect(deploymentFor('shop', all.slice(0, 1), undefined).metadata.name).toBe('shop-worker')
  expect(() => deploymentFor('shop', all, 'cron')).toThrow('there are worker, web')
  expect(() => deploymentFor('shop', [], undefined)).toThrow('sekisho why application/shop')
})

const ended = (status: object): Pod => ({ metadata: { name: 'p' }, status }) as unknown as Pod
const state = (terminated: object) => ({ containerStatuses: [{ state: { terminated } }] })

test.each([
  [state({ exitCode: 3 }), { code: 3 }],
  [state({ exitCode: 137, reason: 'OOMKilled' }), { code: 137, why: expect.stringContaining('memory') }],
  [
    { ...state({ exitCode: 143 }), reason: 'DeadlineExceeded' },
    { code: 143, why: expect.stringContaining('--timeout') },
  ],
  [
    { phase: 'Failed', message: 'The node was low on resource' },
    { code: 1, why: 'The node was low on resource' },
  ],
  [
    state({ exitCode: 128, reason: 'StartError', message: 'exec: "nope": executable file not found in $PATH' }),
    { code: 127, why: expect.stringContaining('no such program') },
  ],
  [state({ exitCode: 128, reason: 'StartError', message: 'exec: "/etc/passwd": permission denied' }), { code: 126 }],
  [{ phase: 'Running' }, undefined],
])('the end of %j is %j', (status, end) => {
  const found = endOf(ended(status))
  if (end === undefined) expect(found).toBeUndefined()
  else expect(found).toMatchObject(end)
})

test('nothing of an isolated Application runs outside of its isolation', () => {
  const isolated = { ...application, spec: { isolated: true } } as unknown as Application
  expect(() => taskJob(isolated, deployment('web'), task)).toThrow('shop is isolated because its code is not trusted')
})

test('the name says whose it is, and fits into a label with what Kubernetes appends', () => {
  const ownPrefix = 'sekisho-run-999999999999999-'
  const long = { ...application, metadata: { ...application.metadata, name: 'a'.repeat(63) } } as Application
  const { generateName = '' } = taskJob(long, deployment('web'), { ...task, ownPrefix }).metadata
  expect(generateName.startsWith(`${ownPrefix}aaa`)).toBe(true)
  expect(`${generateName}xxxxx`.length).toBeLessThanOrEqual(63)
})

test('a command starts in the folder of the application, also where its containers need not be told', () => {
  const env = (from: Deployment, changes: object) => {
    const [container] = podOf(from, changes).template.spec['containers'] as readonly { env?: readonly object[] }[]
    return container?.env?.filter(variable => 'name' in variable && variable.name === 'CNB_APP_DIR')
  }
  const folder = [{ name: 'CNB_APP_DIR', value: '/workspace/apps/api' }]
  expect(env(deployment('web'), { buildpacks: true, folder: 'apps/api' })).toEqual(folder)
  for (const changes of [{ folder: 'apps/api', buildpacks: false }, { buildpacks: true, folder: '.' }, { buildpacks: true }])
    expect(env(deployment('web'), changes) ?? []).toEqual([])
  const image = 'registry.test/shop@sha256:1'
  const sync = (build: object, more: object = {}) =>
    ({
      spec: { application: 'x', otherApplications: ['shop'], subPath: './apps/api', build, ...more },
      status: { image },
    }) as unknown as RemoteSync
  const shop = { ...application, spec: { ...application.spec, image } } as Application
  expect(builtFolder(shop, [sync({ root: '.' })])).toBe('apps/api')
  expect(builtFolder(shop, [sync({ root: 'apps' })])).toBe('api')
  expect(builtFolder(shop, [sync({})])).toBeUndefined()
  // Other builders do not know it.
  expect(builtFolder(shop, [sync({ root: '.', builder: 'paketo' })])).toBeUndefined()
  expect(builtFolder(application, [sync({ root: '.' })])).toBeUndefined()
})

test('input is attached once, and ends with the connection', () => {
  expect(podOf(deployment('web'), { input: 'terminal' }).template.spec).toMatchObject({
    containers: [{ stdin: true, stdinOnce: true, tty: true }],
  })
  expect(podOf(deployment('web'), { input: 'stream' }).template.spec).toMatchObject({
    containers: [{ stdinOnce: true, tty: false }],
  })
  expect(JSON.stringify(podOf(deployment('web')))).not.toContain('stdin')
})

test('a task does not run under the ServiceAccount of an Application that a grant names, and has no identity of it', () => {
  const identity = { name: 'sekisho-identity', projected: { sources: [] } }
  const mounts = [
    { name: 'tmp', mountPath: '/tmp' },
    { name: 'sekisho-identity', mountPath: '/var/run/sekisho' },
    { name: 'sekisho-token-read-shop', mountPath: '/var/run/sekisho-tokens/read-shop' },
  ]
  const token = { name: 'sekisho-token-read-shop', secret: { secretName: 'ghtok-sekisho-app-shop.read-shop' } }
  const volumes = [{ name: 'tmp', emptyDir: {} }, identity, token]
  const imagePullSecrets = [{ name: 'sekisho-registry-pull' }, { name: 'ghtok-sekisho-app-shop.images' }]
  const account = (name: string) => ({ serviceAccountName: name, serviceAccount: name, volumes, imagePullSecrets })
  const { spec } = podOf(deployment('web', { volumeMounts: mounts }, account('sekisho-app-shop'))).template
  expect(spec).not.toHaveProperty('serviceAccountName')
  expect(spec).not.toHaveProperty('serviceAccount')
  expect(spec).toMatchObject({ volumes: [{ name: 'tmp' }], containers: [{ volumeMounts: [{ name: 'tmp' }] }] })
  expect(spec).toMatchObject({ imagePullSecrets: [{ name: 'sekisho-registry-pull' }] })
  expect(JSON.stringify(spec)).not.toContain('ghtok-')
  expect(podOf(deployment('web', {}, account('of-the-chart'))).template.spec).toMatchObject({
    serviceAccountName: 'of-the-chart',
  })
})
