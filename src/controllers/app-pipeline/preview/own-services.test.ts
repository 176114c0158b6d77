// Of the services that a preview has for itself: which may be made, which count, and what they say.
import { describe, expect, test } from 'vitest'
import { previewServiceName } from '../../../api/apps/app-pipeline/services.ts'
import type { AppPipeline } from '../../../api/apps/app-pipeline.ts'
import { type Bucket, bucket } from '../../../api/services/bucket.ts'
import { type ServiceClass, serviceClass } from '../../../api/services/service-class.ts'
import { type ServiceInstance, serviceInstance } from '../../../api/services/service-instance.ts'
import type { OwnedStanding } from '../../kit/owned-application/state.ts'
import { pipeline } from '../testing/app-pipeline.ts'
import { templateOfFork } from './fork.ts'
import { heldService, ownServices, type ServiceFacts, split, standingWithServices, wall } from './own-services.ts'

const template: AppPipeline['spec']['template'] = {
  ...pipeline().spec.template,
  application: {
    chart: 'web',
    services: [
      { name: 'db', instance: 'shared', access: 'ReadWrite' },
      { name: 'catalogue', instance: 'catalogue', access: 'ReadOnly' },
    ],
  },
  services: [{ name: 'db', class: 'postgresql' }],
}

const factsOf = (of: AppPipeline['spec']['template'] = template): ServiceFacts => ({
  pipeline: pipeline({ template: of }),
  number: 12,
  template: of,
})

const offered = (...open: readonly boolean[]): ReadonlyMap<string, ServiceClass> =>
  new Map(
    open.map(allowIsolated => [
      'postgresql',
      { ...serviceClass, metadata: { name: 'postgresql' }, spec: { allowIsolated } } as unknown as ServiceClass,
    ]),
  )

type State = { readonly name?: string; readonly leaving?: boolean; readonly reason?: string; readonly ready?: boolean }

function instanceOf({ name, leaving = false, reason, ready = false }: State = {}): ServiceInstance {
  const status = ready ? ('True' as const) : ('False' as const)
  const time = '2026-01-01T00:00:00Z'
  const condition = { type: 'Ready', status, message: 'so it is', lastTransitionTime: time, observedGeneration: 1 }
  return {
    apiVersion: serviceInstance.apiVersion,
    kind: serviceInstance.kind,
    metadata: {
      namespace: 'acme',
      name: name ?? previewServiceName(pipeline().metadata, 12, { name: 'db', class: 'postgresql' }),
      ...(leaving ? { deletionTimestamp: time } : {}),
    },
    spec: { class: 'postgresql', whenDeleted: 'Delete' },
    status: reason === undefined ? {} : { conditions: [{ ...condition, reason }] },
  }
}

describe('of the code of a fork', () => {
  const open = { ...template, public: { services: ['db'] } }

  test('an instance is made only where public.services names the entry and the class allows it', () => {
    expect(ownServices(factsOf(templateOfFork(template)))).toEqual([])
    expect(ownServices(factsOf(templateOfFork(open))).map(({ entry }) => entry.name)).toEqual(['db'])
    expect(wall(factsOf(templateOfFork(open)), offered(true))).toBeUndefined()
    for (const classes of [offered(false), offered()])
      expect(wall(factsOf(templateOfFork(open)), classes)).toMatchObject({ state: 'Failed', reason: 'ServiceNotForIsolated' })
  })

  test('a class that is closed stops nobody who gets nothing of it, and not the previews of the repository', () => {
    expect(wall(factsOf(templateOfFork(template)), offered(false))).toBeUndefined()
    expect(wall(factsOf(open), offered(false))).toBeUndefined()
    const isolated = { ...template, application: { ...template.application, isolated: true } }
    expect(wall(factsOf(isolated), offered(false))?.message).toContain('take db out of public.services')
  })
})

test('an instance of a class that the template named before is a former one', () => {
  const before = instanceOf({ name: previewServiceName(pipeline().metadata, 12, { name: 'db', class: 'other' }) })
  const now = instanceOf()
  expect(split([before, now], factsOf())).toEqual({ current: [now], former: [before] })
  const { services: _none, ...without } = template
  expect(split([before, now], factsOf(without))).toEqual({ current: [], former: [before, now] })
})

describe('a bucket', () => {
  const name = previewServiceName(pipeline().metadata, 12, { name: 'db', class: 'postgresql' })
  const bucketOf = (state: State = {}): Bucket => ({ ...instanceOf(state), kind: bucket.kind }) as unknown as Bucket

  test('is what an entry has whose use names one, and no instance of its name is taken for it', () => {
    const services = [{ name: 'db', bucket: 'shared', access: 'ReadWrite' as const }]
    const facts = factsOf({ ...template, application: { chart: 'web', services } })
    expect(ownServices(facts)).toMatchObject([{ kind: 'Bucket', name }])
    expect(split([instanceOf(), bucketOf()], facts)).toEqual({ current: [bucketOf()], former: [instanceOf()] })
    expect(split([instanceOf(), bucketOf()], factsOf())).toEqual({ current: [instanceOf()], former: [bucketOf()] })
  })

  test('is waited for, needs somebody, or is held, by its own reasons', () => {
    expect(standingWithServices([bucketOf({ reason: 'Provisioning' })], building)).toMatchObject({ reason: 'WaitingForService' })
    const failed = standingWithServices(
      [instanceOf({ reason: 'Provisioned', ready: true }), bucketOf({ reason: 'CapabilityMissing' })],
      building,
    )
    expect(failed).toMatchObject({
      state: 'Failed',
      reason: 'ServiceNotUsable',
      message: `Bucket ${name} (CapabilityMissing): so it is`,
    })
    const held = heldService({ application: undefined, services: [bucketOf({ leaving: true, reason: 'InUse' })] })
    expect(held).toBe(`Bucket ${name}: so it is`)
  })
})

const standing = (state: OwnedStanding['state']): OwnedStanding => ({ state, reason: 'Other', message: 'other' })
const building = standing('Building')

test.each<[string, State, string | undefined, string | undefined]>([
  ['that was just created is waited for', {}, 'Waiting', 'WaitingForService'],
  ['that is being made is waited for', { reason: 'Provisioning' }, 'Waiting', 'WaitingForService'],
  ['whose server is away is waited for', { reason: 'ServerUnreachable' }, 'Waiting', 'WaitingForService'],
  ['of a plan that there is not needs somebody', { reason: 'PlanNotFound' }, 'Failed', 'ServiceNotUsable'],
  ['that the server refuses needs somebody', { reason: 'RefusedByServer' }, 'Failed', 'ServiceNotUsable'],
  ['that is ready says nothing', { reason: 'Provisioned', ready: true }, 'Building', 'Other'],
])('an instance %s', (_what, state, expected, reason) => {
  const found = standingWithServices([instanceOf(state)], building)
  expect(found).toMatchObject({ state: expected, reason })
  if (state.reason !== undefined && !state.ready) expect(found.message).toContain(`(${state.reason}): so it is`)
})

test('a failed build, a pause and an end are more important than a service that is being made', () => {
  for (const state of ['Failed', 'Paused', 'Removing', 'Running'] as const)
    expect(standingWithServices([instanceOf()], standing(state))).toEqual(standing(state))
})

test('a service that somebody else still uses is named when nothing else of the preview is left', () => {
  const held = instanceOf({ leaving: true, reason: 'InUse' })
  expect(heldService({ application: undefined, services: [held] })).toContain(`${held.metadata.name}: so it is`)
  expect(heldService({ application: {}, services: [held] })).toBeUndefined()
  expect(heldService({ application: undefined, services: [instanceOf({ reason: 'InUse' })] })).toBeUndefined()
})
