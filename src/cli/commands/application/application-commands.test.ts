import { describe, expect, test } from 'vitest'
import type { Application } from '../../../api/apps/application.ts'
import type { Release } from '../../../api/apps/release.ts'
import type { RemoteSync } from '../../../api/apps/remote-sync.ts'
import type { Pod } from '../../../api/builtin/core.ts'
import { labels } from '../../../api/names.ts'
import { namedObject } from '../../kubernetes/named-object.ts'
import { imagePatch, refuseWhenBuilt } from './deploy.ts'
import { withoutUrl } from './open.ts'
import { podState } from './pods.ts'
import { rollbackTarget, stateOf } from './releases.ts'
import { parseReplicas, replicasPatch, scaled } from './scale.ts'
import { statusOf, verdict } from './status.ts'

describe('scale', () => {
  test('only the named processes change', () => {
    const processes = [{ name: 'web', replicas: 1, port: 3000 }, { name: 'worker' }]
    expect(scaled(processes, parseReplicas(['web=3']))).toEqual([{ name: 'web', replicas: 3, port: 3000 }, { name: 'worker' }])
    expect(() => scaled(processes, parseReplicas(['wroker=1']))).toThrow('there are web, worker; did you mean worker?')
  })

  test('spec.replicas stands for the process web, and a process that follows its load is not set', () => {
    const application = (spec: object, status: object = {}) =>
      ({ metadata: { name: 'shop' }, spec, status }) as unknown as Application
    const web = { name: 'web', replicas: 1 }
    const wanted = parseReplicas(['web=3'])
    expect(replicasPatch(application({ processes: [web], replicas: 2 }), wanted)).toEqual({
      processes: [{ name: 'web', replicas: 3 }],
      replicas: null,
    })
    expect(replicasPatch(application({ processes: [web] }), wanted)).toEqual({ processes: [{ name: 'web', replicas: 3 }] })
    expect(replicasPatch(application({}, { processes: [{ name: 'web' }] }), wanted)).toEqual({ replicas: 3 })
    expect(() => replicasPatch(application({}), wanted)).toThrow('are those of its first image, which is not there yet')
    expect(() => replicasPatch(application({ processes: [] }), wanted)).toThrow('spec.processes is empty')
    expect(() => replicasPatch(application({ processes: [{ ...web, autoscaling: {} }] }), wanted)).toThrow('by its load')
  })

  test.each(['web', 'web=', 'web=-1', 'web=1.5', '=3'])('%j is refused with an example', word => {
    expect(() => parseReplicas([word])).toThrow('such as web=3')
  })

  test('too many pods are refused with the number that is possible', () => {
    expect(() => parseReplicas(['web=5000'])).toThrow('web=5000: a process can have at most 50 pods')
  })
})

describe('deploy', () => {
  const application = (spec: object) => ({ metadata: { name: 'shop' }, spec }) as unknown as Application
  test('a digest ends following, and another tag does not', () => {
    const following = application({ image: 'ghcr.io/acme/shop:v1', followTag: true })
    expect(imagePatch(following, { image: 'ghcr.io/acme/shop@sha256:1' })).toEqual({
      image: 'ghcr.io/acme/shop@sha256:1',
      commit: null,
      followTag: null,
    })
    expect(imagePatch(following, { image: 'ghcr.io/acme/shop:v2' })).toEqual({ image: 'ghcr.io/acme/shop:v2', commit: null })
  })

  test('a flag says whether the tag is followed', () => {
    const image = 'ghcr.io/acme/shop:v1'
    const following = application({ image, followTag: true })
    expect(imagePatch(application({ image }), { image, followTag: true })).toEqual({ image, commit: null, followTag: true })
    expect(imagePatch(following, { image, followTag: true })).toBeUndefined()
    expect(imagePatch(following, { image, followTag: false })).toEqual({ image, commit: null, followTag: null })
    expect(imagePatch(application({ image }), { image, followTag: false })).toBeUndefined()
    expect(() => imagePatch(following, { image: `${image}@sha256:1`, followTag: true })).toThrow('--follow-tag needs an image')
  })

  test('the commit of the image before is removed with it', () => {
    expect(imagePatch(application({ image: 'a', commit: 'c' }), { image: 'b' })).toEqual({ image: 'b', commit: null })
    expect(imagePatch(application({ image: 'b' }), { image: 'b' })).toBeUndefined()
  })
  test('an image that a RemoteSync builds is not replaced for a moment only', () => {
    const sync = { metadata: { name: 'main' }, spec: { application: 'shop', repository: 'acme/shop' } } as unknown as RemoteSync
    expect(() => refuseWhenBuilt('shop', [sync])).toThrow(
      /RemoteSync main builds the image of shop from acme\/shop.*kubectl delete remotesync main/,
    )
    expect(() => refuseWhenBuilt('other', [sync])).not.toThrow()
    const shared = { ...sync, spec: { ...sync.spec, otherApplications: ['other'] } }
    expect(() => refuseWhenBuilt('other', [shared])).toThrow(/RemoteSync main builds the image of other/)
    const suspended = { ...sync, spec: { ...sync.spec, suspend: true } }
    const leaving = { ...sync, metadata: { ...sync.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }
    expect(() => refuseWhenBuilt('shop', [suspended, leaving])).not.toThrow()
  })
})

function pod(status: object, more: object = {}): Pod {
  const metadata = { name: 'shop-web-1', labels: { [labels.application]: 'shop', [labels.process]: 'web' }, ...more }
  return { metadata, status } as unknown as Pod
}
const container = (state: object, ready: boolean, restartCount = 0) => ({ name: 'web', state, ready, restartCount })

test.each([
  [pod({ phase: 'Running', containerStatuses: [container({ running: {} }, true, 2)] }), 'Running', true, 2],
  [pod({ phase: 'Running', containerStatuses: [container({ running: {} }, false)] }), 'Running, not ready', false, 0],
  [
    pod({ phase: 'Running', containerStatuses: [container({ waiting: { reason: 'CrashLoopBackOff' } }, false, 7)] }),
    'CrashLoopBackOff',
    false,
    7,
  ],
  [
    pod({ phase: 'Failed', containerStatuses: [container({ terminated: { exitCode: 1, reason: 'Error' } }, false)] }),
    'Error (exit code 1)',
    false,
    0,
  ],
  [pod({ phase: 'Pending' }), 'Pending', false, 0],
  [pod({ phase: 'Running' }, { deletionTimestamp: 'now' }), 'Terminating', false, 0],
])('the state of a pod: %#', (one, text, ready, restarts) => {
  expect(podState(one)).toEqual({ text, ready, restarts })
})

test('a status that is older than the spec is not believed', () => {
  const conditions = [
    { type: 'Ready', status: 'True', reason: 'Available', message: 'all', lastTransitionTime: '', observedGeneration: 1 },
  ] as const
  const status = { conditions, observedGeneration: 1 }
  expect(verdict({ metadata: { generation: 1 }, status })).toMatchObject({ ready: true, reason: 'Available' })
  expect(verdict({ metadata: { generation: 2 }, status })).toMatchObject({ ready: false, reason: 'Pending' })
  expect(verdict({ metadata: {} })).toMatchObject({ ready: false, reason: 'Pending' })
})

test('the status counts the pods of each process and names what is wrong with them', () => {
  const application = { metadata: { name: 'shop' }, spec: {}, status: { url: 'http://x' } } as unknown as Application
  const pods = [
    pod({ phase: 'Running', containerStatuses: [container({ running: {} }, true)] }),
    pod({ phase: 'Running', containerStatuses: [container({ waiting: { reason: 'CrashLoopBackOff' } }, false)] }),
    // A run of a schedule, the release job that succeeded, and one that runs.
    pod({ phase: 'Failed' }, { labels: { [labels.application]: 'shop', [labels.process]: 'nightly' } }),
    pod({ phase: 'Succeeded' }, { labels: { [labels.application]: 'shop', [labels.release]: '3' } }),
    pod({ phase: 'Pending' }, { labels: { [labels.application]: 'shop', [labels.release]: '4' } }),
  ]
  expect(statusOf(application, pods, [])).toMatchObject({
    url: 'http://x',
    processes: [
      { process: '(release)', ready: 0, pods: 1, troubles: ['Pending'] },
      { process: 'web', ready: 1, pods: 2, troubles: ['CrashLoopBackOff'] },
    ],
    sources: [],
  })
})

test.each([
  ['shop', 'Application', 'shop'],
  ['application/shop', 'Application', 'shop'],
  ['RemoteSyncs/shop', 'RemoteSync', 'shop'],
  ['grant/reader', 'RepositoryGrant', 'reader'],
  ['domain/shop.example.com', 'DomainClaim', 'shop.example.com'],
  ['servicebinding.services.sekisho.dev/shop-db', 'ServiceBinding', 'shop-db'],
])('%s is %s %s', (text, kind, name) => {
  expect(namedObject(text)).toMatchObject({ type: { kind }, name })
})

test.each([
  ['aplication/shop', 'did you mean application?'],
  ['application/', 'such as application/shop'],
  ['a/b/c', 'such as application/shop'],
])('%s is refused: %s', (text, cure) => {
  expect(() => namedObject(text)).toThrow(cure)
})

function release(number: number, reason: string | undefined): Release {
  const conditions = reason === undefined ? [] : [{ type: 'Ready', status: 'False', reason, message: '' }]
  return { metadata: { name: `shop-v${number}` }, spec: { number }, status: { conditions } } as unknown as Release
}

describe('releases', () => {
  const all = [
    release(5, undefined),
    release(4, 'RolledOut'),
    release(3, 'Unhealthy'),
    release(2, 'RolledOut'),
    release(1, 'RolledOut'),
  ]
  const application = (spec: object = {}) =>
    ({ metadata: { name: 'shop' }, spec, status: { release: 4 } }) as unknown as Application

  test('without a number, the newest that was rolled out before the one that runs', () => {
    expect(rollbackTarget(application(), all, undefined)).toBe(2)
    expect(rollbackTarget(application(), all, 1)).toBe(1)
  })

  test('a release that never ran cannot run again, and those that can are named', () => {
    expect(() => rollbackTarget(application(), all, 3)).toThrow(
      'release v3 does not exist or was never rolled out; these can: v4, v2, v1',
    )
    expect(() => rollbackTarget(application(), all.slice(0, 1), undefined)).toThrow('no release has been rolled out yet')
  })

  test('states', () => {
    expect(all.map(one => stateOf(one, application({ pinnedRelease: 4 })))).toEqual([
      'Pending',
      'running, pinned',
      'Unhealthy',
      'RolledOut',
      'RolledOut',
    ])
  })
})

test('why an application has no URL depends on how far it is', () => {
  const of = (spec: object, status: object = {}): string =>
    withoutUrl({ metadata: { name: 'shop' }, spec, status } as unknown as Application)
  expect(of({})).toContain('it gets one with its first image')
  expect(of({ image: 'x' })).toContain('its processes are not known yet')
  expect(of({ image: 'x', processes: [{ name: 'worker' }] })).toContain('only a process named web has one, and there is worker')
  expect(of({ image: 'x' }, { processes: [{ name: 'web' }] })).toContain('when it is rolled out')
})
