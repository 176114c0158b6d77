// The release job: its pod, when it is started, and what its end means.
import { describe, expect, test } from 'vitest'
import type { Job, Pod } from '../../../api/builtin/index.ts'
import type { Manifest } from '../rendering/desired.ts'
import { decideJob, desiredJob, type JobFacts, type JobRecord, jobName, surplusJobs } from './release-job.ts'
import { application, now } from './testing/application.ts'

const app = application({ releaseJob: { command: ['node', 'migrate.js'], timeoutSeconds: 60 } })

function deployment(process: string, spec: object): Manifest {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name: `shop-${process}`,
      namespace: 'acme',
      labels: { 'sekisho.dev/process': process },
      annotations: {},
    },
    spec: { template: { metadata: { labels: { 'sekisho.dev/process': process }, annotations: { a: 'b' } }, spec } },
  }
}

const webPod = {
  automountServiceAccountToken: false,
  enableServiceLinks: false,
  securityContext: { runAsNonRoot: true },
  terminationGracePeriodSeconds: 30,
  containers: [
    {
      name: 'web',
      image: 'i',
      env: [{ name: 'A', value: '1' }],
      envFrom: [{ secretRef: { name: 'appsecret-shop' } }],
      ports: [{ containerPort: 3000 }],
      readinessProbe: { tcpSocket: { port: 3000 } },
      lifecycle: { preStop: { sleep: { seconds: 5 } } },
      securityContext: { readOnlyRootFilesystem: true },
      volumeMounts: [
        { name: 'tmp', mountPath: '/tmp' },
        { name: 'data', mountPath: '/data' },
      ],
    },
  ],
  volumes: [
    { name: 'tmp', emptyDir: {} },
    { name: 'data', persistentVolumeClaim: { claimName: 'shop-data' } },
  ],
}

describe('the Job', () => {
  test('of an isolated Application is as isolated as its other pods', () => {
    const isolated = application({ releaseJob: { command: ['node'], timeoutSeconds: 60 }, isolated: true })
    const pod = { ...webPod, serviceAccountName: 'sekisho-isolated' }
    const job = desiredJob(isolated, 3, [deployment('web', pod)])
    expect(job?.spec?.template?.metadata?.labels).toMatchObject({ 'sekisho.dev/isolated': 'true' })
    expect(job?.spec?.template?.spec).toMatchObject({ serviceAccountName: 'sekisho-isolated' })
  })

  test('has the image, environment and security of web, and neither its port, probes, volume claims nor its labels', () => {
    const job = desiredJob(app, 3, [deployment('worker', { containers: [{ image: 'other' }] }), deployment('web', webPod)])
    expect(job?.metadata).toMatchObject({ name: 'shop-release-v3', ownerReferences: [{ kind: 'Application', controller: true }] })
    expect(job?.spec).toEqual({
      backoffLimit: 0,
      activeDeadlineSeconds: 120,
      ttlSecondsAfterFinished: 604_800,
      template: {
        metadata: { labels: { 'sekisho.dev/application': 'shop', 'sekisho.dev/release': '3' }, annotations: { a: 'b' } },
        spec: {
          automountServiceAccountToken: false,
          enableServiceLinks: false,
          securityContext: { runAsNonRoot: true },
          restartPolicy: 'Never',
          activeDeadlineSeconds: 60,
          volumes: [{ name: 'tmp', emptyDir: {} }],
          containers: [
            {
              name: 'release',
              image: 'i',
              command: ['node', 'migrate.js'],
              env: [{ name: 'A', value: '1' }],
              envFrom: [{ secretRef: { name: 'appsecret-shop' } }],
              securityContext: { readOnlyRootFilesystem: true },
              volumeMounts: [{ name: 'tmp', mountPath: '/tmp' }],
              terminationMessagePolicy: 'FallbackToLogsOnError',
            },
          ],
        },
      },
    })
    expect(desiredJob(app, 3, [])).toBeUndefined()
  })

  test('starts in the folder of the application, as other commands do', () => {
    const [container] = webPod.containers
    const told = { ...container, env: [{ name: 'CNB_APP_DIR', value: '/workspace/apps/$$(api)' }] }
    const job = desiredJob(app, 3, [deployment('web', { ...webPod, containers: [told] })])
    expect(job?.spec?.template?.spec?.containers[0]).toMatchObject({ workingDir: '/workspace/apps/$(api)' })
  })

  test('has a name that fits into a label, and different ones for different Applications and releases', () => {
    const long = 'a'.repeat(63)
    const names = [
      jobName(long, 1),
      jobName(long, 2),
      jobName(`${'a'.repeat(62)}b`, 1),
      jobName('shop', 1),
      jobName(long, 2_147_483_647),
    ]
    expect(new Set(names).size).toBe(names.length)
    for (const name of names) expect(name).toMatch(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/)
  })
})

function job(number: number, type?: string, reason = ''): Job {
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: jobName('shop', number), labels: { 'sekisho.dev/release': String(number) } },
    ...(type === undefined ? {} : { status: { conditions: [{ type, status: 'True', reason }] } }),
  }
}

function pod(phase: string, status: object = {}): Pod {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, status: { phase, ...status } }
}

const record: JobRecord = { release: 3, name: 'shop-release-v3', state: 'Running', startedAt: '2026-01-01T11:00:00.000Z' }

function decided(changes: Partial<JobFacts>, found?: Pod) {
  const podsOfJobs = new Map(found === undefined ? [] : [['shop-release-v3', found]])
  return decideJob({ newest: 3, status: {}, jobs: [], podsOfJobs, now, ...changes }, app)
}

describe('the release job', () => {
  test('is started once: not again while it runs, after its Job was deleted, or after it ended', () => {
    expect(decided({})).toEqual({ kind: 'start' })
    expect(decided({ jobs: [job(3)] })).toMatchObject({ kind: 'hold', record: { state: 'Running' } })
    expect(decided({ status: { releaseJob: record } })).toEqual({ kind: 'ask', record })
    for (const state of ['Failed', 'TimedOut'] as const)
      expect(decided({ status: { releaseJob: { ...record, state } } })).toMatchObject({ kind: 'hold' })
    expect(decided({ status: { releaseJob: { ...record, state: 'Succeeded' } } })).toMatchObject({ kind: 'cleared' })
    expect(decided({ status: { release: 3 } })).toMatchObject({ kind: 'cleared' })
  })

  test('waits for the one of an earlier release', () => {
    expect(decided({ jobs: [job(2)] })).toMatchObject({
      kind: 'hold',
      hold: { reason: 'ReleaseJobRunning', message: 'waits until the release job of release 2 has ended' },
    })
    expect(decided({ jobs: [job(2, 'Complete')] })).toEqual({ kind: 'start' })
  })

  test('of the last release is kept, and one that runs; the others go', () => {
    const all = [job(1, 'Complete'), job(2, 'Failed'), job(3)]
    expect(surplusJobs(all)).toEqual(all.slice(0, 2))
    expect(surplusJobs([job(2), job(3, 'Complete')])).toEqual([])
    expect(surplusJobs([])).toEqual([])
  })

  const log = 'one\ntwo\nghp_abcdefghijklmnopqrstuvwxyz0123456789 is wrong\n'
  const exited = pod('Failed', { containerStatuses: [{ state: { terminated: { exitCode: 2, message: log } } }] })

  test.each<[string, Job, Pod | undefined, object]>([
    ['has succeeded', job(3, 'Complete'), pod('Succeeded'), { kind: 'cleared', record: { state: 'Succeeded' } }],
    [
      'has failed',
      job(3, 'Failed', 'BackoffLimitExceeded'),
      exited,
      { hold: { reason: 'ReleaseJobFailed', message: expect.stringContaining('it exited with code 2: one\ntwo\n') } },
    ],
    [
      'has failed, but its log is not known yet',
      job(3, 'Failed', 'BackoffLimitExceeded'),
      pod('Running'),
      { hold: { reason: 'ReleaseJobRunning' } },
    ],
    [
      'was ended by the deadline of its pod',
      job(3, 'Failed', 'BackoffLimitExceeded'),
      pod('Failed', { reason: 'DeadlineExceeded' }),
      { hold: { reason: 'ReleaseJobTimedOut' } },
    ],
    [
      'found no node in time',
      job(3, 'Failed', 'DeadlineExceeded'),
      undefined,
      { hold: { reason: 'ReleaseJobTimedOut', message: expect.stringContaining('kubectl logs -n acme job/shop-release-v3') } },
    ],
  ])('that %s', (_what, found, itsPod, expected) => {
    expect(decided({ status: { releaseJob: record }, jobs: [found] }, itsPod)).toMatchObject(expected)
  })

  test('keeps tokens and long logs out of the status', () => {
    const long = pod('Failed', {
      containerStatuses: [{ state: { terminated: { exitCode: 2, message: `${'x'.repeat(5000)}\n${log}` } } }],
    })
    const found = decided({ status: { releaseJob: record }, jobs: [job(3, 'Failed')] }, long)
    const text = JSON.stringify(found)
    expect(text).not.toContain('ghp_')
    expect(text.length).toBeLessThan(3500)
  })
})
