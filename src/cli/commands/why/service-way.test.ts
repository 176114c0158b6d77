// What `sekisho why` says of services: each thing that can be wrong on the way of a credential, and its cure.
import { describe, expect, test } from 'vitest'
import type { Pod } from '../../../api/builtin/core.ts'
import type { ServiceBinding } from '../../../api/services/service-binding.ts'
import type { ServiceClass } from '../../../api/services/service-class.ts'
import { type ServiceObject, serviceKinds } from '../services/service-kinds.ts'
import type { Facts } from './facts.ts'
import { refersTo, type ServiceFact } from './service-facts.ts'
import { application, forApplication, healthy } from './testing/facts.ts'
import { walk } from './walk.ts'

const [kind = expect.fail('no kind'), bucketKind = expect.fail('no kind of buckets')] = serviceKinds
const name = 'shop-db-1f0c95d2'
const issuedAt = '2026-11-22T11:00:00Z'

const conditions = (texts: Readonly<Record<string, string>>) =>
  Object.entries(texts).map(([type, text]) => {
    const [reason = '', message = ''] = text === 'True' ? ['Done', 'done'] : text.split(': ')
    return { type, status: text === 'True' ? 'True' : 'False', reason, message, observedGeneration: 1 }
  })
const object = (metadata: object, spec: object, texts: Readonly<Record<string, string>>, status: object = {}) => ({
  metadata: { name, generation: 1, creationTimestamp: issuedAt, ...metadata },
  spec,
  status: { observedGeneration: 1, conditions: conditions(texts), ...status },
})

const service = (texts: Readonly<Record<string, string>> = {}, metadata: object = {}) =>
  object(
    { name: 'shop-db', ...metadata },
    { class: 'postgresql' },
    { Provisioned: 'True', Ready: 'True', ...texts },
    { plan: 'small' },
  ) as unknown as ServiceObject

const serviceClass = (texts: Readonly<Record<string, string>> = {}) =>
  object(
    { name: 'postgresql' },
    { type: 'postgresql' },
    { Ready: 'True', ...texts },
    { version: '15.18' },
  ) as unknown as ServiceClass

const binding = (texts: Readonly<Record<string, string>> = {}, status: object = {}) =>
  object(
    {},
    { access: 'ReadWrite', service: { kind: 'ServiceInstance', name: 'shop-db' } },
    { Issued: 'True', Proven: 'True', Ready: 'True', ...texts },
    {
      binding: { name: `binding-${name}` },
      version: 2,
      slots: [{ slot: 'a', state: 'Delivered', issuedAt }],
      ...status,
    },
  ) as unknown as ServiceBinding

const pod = (creationTimestamp: string) => ({ metadata: { name: 'shop-web-1', creationTimestamp } }) as unknown as Pod

const fact = (more: Partial<ServiceFact> = {}): ServiceFact => ({
  label: 'db',
  kind,
  serviceName: 'shop-db',
  service: service(),
  serviceClass: serviceClass(),
  bindingName: name,
  binding: binding(),
  application: 'shop',
  pods: [pod('2026-11-22T11:30:00Z')],
  ...more,
})

const asked: Pick<Facts, 'subject' | 'application' | 'remoteSync' | 'grant' | 'installation'> = {
  subject: { kind: 'ServiceBinding', name },
  application: undefined,
  remoteSync: undefined,
  grant: undefined,
  installation: undefined,
}
const ofBinding = (more: Partial<ServiceFact> = {}) => walk({ ...healthy, ...asked, services: [fact(more)] })

test('a credential that works: class, database, credential, proof, delivered, used', () => {
  const { steps, first } = ofBinding()
  expect(first).toBeUndefined()
  expect(steps).toEqual([
    { step: 'class', mark: 'ok', text: 'ServiceClass postgresql answers: postgresql 15.18' },
    { step: 'database', mark: 'ok', text: 'ServiceInstance shop-db exists, plan small' },
    { step: 'credential', mark: 'ok', text: `ServiceBinding ${name}, ReadWrite` },
    { step: 'proof', mark: 'ok', text: 'the platform tried what it can do, and what it must not' },
    { step: 'delivered', mark: 'ok', text: 'the Secret has version 2' },
    { step: 'used', mark: 'ok', text: '1 pod has it' },
  ])
})

const without = { binding: undefined }
const cases: readonly (readonly [string, Partial<Record<keyof ServiceFact, unknown>>, string, string, RegExp, RegExp?])[] = [
  [
    'there is no instance',
    { service: undefined, binding: undefined },
    'database',
    'wrong',
    /there is no ServiceInstance shop-db/,
    /services create/,
  ],
  [
    'it is being deleted',
    { service: service({}, { deletionTimestamp: issuedAt }) },
    'database',
    'wrong',
    /being deleted/,
    /detach/,
  ],
  [
    'the class does not exist',
    { serviceClass: undefined, ...without },
    'class',
    'wrong',
    /no ServiceClass postgresql/,
    /services classes/,
  ],
  [
    'the server refuses the password of the platform',
    { serviceClass: serviceClass({ Ready: 'LoginRefused: the server refuses it' }), ...without },
    'class',
    'wrong',
    /ServiceClass postgresql: LoginRefused/,
    /platform admin/,
  ],
  [
    'the class is not for this tenant',
    { service: service({ Ready: 'ClassNotAllowed: not offered' }), ...without },
    'database',
    'wrong',
    /ClassNotAllowed/,
    /services classes/,
  ],
  [
    'the database is lost',
    { service: service({ Ready: 'InstanceMissing: gone' }) },
    'database',
    'wrong',
    /InstanceMissing/,
    /backup/,
  ],
  [
    'it takes more space than its plan has',
    { service: service({ Ready: 'WritesEnded: 2Gi of 1Gi' }) },
    'database',
    'wrong',
    /WritesEnded/,
    /TRUNCATE.*kubectl edit serviceinstance/,
  ],
  [
    'it cannot be kept beside those that are kept',
    { service: service({ Ready: 'KeptTooMany: 10 are kept' }, { deletionTimestamp: issuedAt }) },
    'database',
    'wrong',
    /KeptTooMany/,
    /spec\.whenDeleted to Delete.*make one/,
  ],
  [
    'there is no bucket',
    { kind: bucketKind, serviceName: 'pictures', service: undefined, binding: undefined },
    'bucket',
    'wrong',
    /there is no Bucket pictures/,
    /services create/,
  ],
  [
    'the store cannot do what the bucket asks for',
    { kind: bucketKind, service: service({ Ready: 'CapabilityMissing: versioning' }), ...without },
    'bucket',
    'wrong',
    /CapabilityMissing/,
    /kubectl edit bucket /,
  ],
  [
    'the bucket is being deleted and has objects',
    { kind: bucketKind, service: service({ Ready: 'BucketNotEmpty: 3 objects' }, { deletionTimestamp: issuedAt }), ...without },
    'bucket',
    'wrong',
    /BucketNotEmpty/,
    /emptyWhenDeleted/,
  ],
  [
    'the database is being made',
    { service: service({ Ready: 'Provisioning: now' }), ...without },
    'database',
    'waiting',
    /Provisioning/,
  ],
  ['the Application has not made the binding', without, 'credential', 'waiting', /is not made yet/],
  [
    'the credential is being made',
    { binding: binding({ Issued: 'Issuing: now', Proven: 'Issuing: now', Ready: 'Issuing: now' }, { binding: undefined }) },
    'credential',
    'waiting',
    /Issuing/,
  ],
  [
    'the credential can do too much',
    {
      binding: binding(
        { Proven: 'WiderThanAsked: it entered another database', Ready: 'WiderThanAsked: it entered another database' },
        { binding: undefined },
      ),
    },
    'proof',
    'wrong',
    /WiderThanAsked: it entered another database/,
    /platform admin/,
  ],
  [
    'the quota has no room for the Secret',
    { binding: binding({ Ready: 'RefusedByCluster: exceeded quota' }, { binding: undefined }) },
    'delivered',
    'wrong',
    /exceeded quota/,
    /quota/,
  ],
  [
    'pods still have the former credential',
    {
      pods: [pod('2026-11-22T10:00:00Z')],
      binding: binding(
        {},
        {
          slots: [
            { state: 'Delivered', issuedAt },
            { state: 'Draining', issuedAt, until: '2026-11-22T12:30:00Z' },
          ],
        },
      ),
    },
    'used',
    'waiting',
    /shop-web-1 began before the credential was replaced; the former one works until 2026-11-22T12:30:00Z/,
    /sekisho restart shop/,
  ],
  [
    'pods have a credential that has ended',
    { pods: [pod('2026-11-22T10:00:00Z')] },
    'used',
    'wrong',
    /the former one has ended/,
    /restart/,
  ],
]

test.each(cases.map(one => ({ title: one[0], one })))('$title', ({ one: [, more, step, mark, text, cure] }) => {
  const { first } = ofBinding(more as Partial<ServiceFact>)
  expect(first).toMatchObject({ step, mark, text: expect.stringMatching(text) })
  if (cure !== undefined) expect(first?.cure).toMatch(cure)
})

test('a pod that was made in the second in which its credential was issued has it', () => {
  const made = binding({}, { slots: [{ state: 'Delivered', issuedAt: '2026-11-22T10:00:00.900Z' }] })
  const { steps } = ofBinding({ pods: [pod('2026-11-22T10:00:00Z')], binding: made })
  expect(steps.find(({ step }) => step === 'used')).toMatchObject({ mark: 'ok', text: '1 pod has it' })
})

test('what is before a credential that does not exist says more than it', () => {
  const { steps } = ofBinding({ service: service({ Ready: 'PlanNotFound: no plan big' }), binding: undefined as never })
  expect(steps.find(({ step }) => step === 'credential')).toEqual({
    step: 'credential',
    mark: 'open',
    text: 'waits for the service',
  })
})

describe('from an Application', () => {
  const of = (services: readonly ServiceFact[], texts: Readonly<Record<string, string>> = {}) =>
    walk({ ...healthy, application: application(texts), services })

  test('its services stand between image and chart, and what its pods have after them', () => {
    const { steps, first } = of([fact()])
    expect(first).toBeUndefined()
    const names = steps.map(({ step }) => step)
    expect(names.slice(names.indexOf('image'), names.indexOf('chart'))).toEqual([
      'image',
      'services',
      'class',
      'database',
      'credential',
      'proof',
      'delivered',
    ])
    expect(names[names.indexOf('pods') + 1]).toBe('used')
  })

  test('of several the one that is wrong is named', () => {
    const waiting = 'WaitingForService: spec.services[report]'
    const broken = fact({
      label: 'report',
      serviceName: 'report-db',
      service: service({ Ready: 'ServerUnreachable: no answer' }),
    })
    const { steps, first } = of([fact(), broken], { Rendered: waiting, Ready: waiting })
    expect(first).toMatchObject({ step: 'database', mark: 'wrong', text: 'report: ServerUnreachable: no answer' })
    expect(steps.find(({ step }) => step === 'chart')).toMatchObject({ mark: 'open', text: 'waits for the services' })
  })

  test('what no later step can say is said of the entries: a kind that this version does not know', () => {
    const said = (text: string, services: readonly ServiceFact[]) => {
      const { spec, ...rest } = application({ Rendered: text, Ready: text })
      const entry = { name: 'up', bucket: 'pictures', access: 'ReadWrite' as const }
      return walk({ ...healthy, application: { ...rest, spec: { ...spec, services: [entry] } }, services }).first
    }
    const waits = 'WaitingForService: spec.services[up]'
    expect(said(waits, [])).toMatchObject({ step: 'services', mark: 'waiting', text: waits })
    const lost = 'ServiceNotFound: no Bucket pictures'
    expect(said(lost, [])).toMatchObject({ step: 'services', mark: 'wrong', text: lost })
    expect(said('ServiceNotUsable: pictures', [])).toMatchObject({ step: 'services', mark: 'wrong' })
    // All that is known of it is well.
    expect(said(waits, [fact()])).toMatchObject({ step: 'services', mark: 'waiting' })
    const making = fact({ kind: bucketKind, service: service({ Ready: 'Provisioning: now' }), binding: undefined as never })
    expect(said(waits, [making])).toMatchObject({ step: 'bucket', mark: 'waiting', text: 'Provisioning: now' })
  })

  test('entries that do not fit together', () => {
    const text = 'InvalidServices: spec.services[other].env sets DATABASE_URL, too'
    expect(of([fact()], { Rendered: text, Ready: text }).first).toMatchObject({
      step: 'services',
      mark: 'wrong',
      text,
      cure: expect.stringContaining('kubectl edit application shop'),
    })
  })

  test('its grants that are delivered as Secrets are looked at, too', () => {
    const grants = (texts: Readonly<Record<string, string>>) =>
      walk({ ...healthy, secretGrants: [forApplication(texts, 'Secret')] })
    expect(grants({ Delivered: 'True' }).first).toBeUndefined()
    expect(grants({ Delivered: 'NameTaken: there is a Secret' }).first).toMatchObject({
      step: 'secret',
      mark: 'wrong',
      text: 'reader: NameTaken: there is a Secret',
      cure: expect.stringContaining('platform admin'),
    })
    // Nobody has to want it any more.
    expect(grants({ Ready: 'Denied: by olivia' }).steps.find(({ step }) => step === 'secret')).toMatchObject({ mark: 'open' })
  })
})

test('a pod has a Secret as a variable or as files', () => {
  const env = [{ name: 'A', valueFrom: { secretKeyRef: { name: 'binding-x', key: 'uri' } } }]
  expect(refersTo({ spec: { containers: [{ env }] } } as unknown as Pod, 'binding-x')).toBe(true)
  expect(refersTo({ spec: { volumes: [{ secret: { secretName: 'binding-x' } }] } } as unknown as Pod, 'binding-x')).toBe(true)
  expect(refersTo({ spec: { containers: [{}] } } as unknown as Pod, 'binding-x')).toBe(false)
})
