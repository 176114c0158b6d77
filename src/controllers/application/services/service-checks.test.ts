// When an Application may use its services, what is said when not, and which change of a credential is a release.
import { describe, expect, test } from 'vitest'
import type { Application } from '../../../api/apps/application.ts'
import { ownedBindingName, type ServiceUse, serviceEnvironment } from '../../../api/services/application-services.ts'
import { bindingSecretName } from '../../../api/services/binding-secret.ts'
import type { ServiceBinding } from '../../../api/services/service-binding.ts'
import { onlyCredentials, serviceProblem, serviceVersions } from './service-checks.ts'
import { bindingOf, bucketUse, classOf, entryOf, factsOf, use } from './testing/service-objects.ts'

const problem = (entries: readonly ReturnType<typeof entryOf>[], spec: Partial<Application['spec']> = {}) =>
  serviceProblem(factsOf(entries, spec))

describe('an Application waits', () => {
  test('for nothing when every credential was delivered, whatever its server does now', () => {
    expect(problem([entryOf()])).toBeUndefined()
    expect(problem([entryOf({ binding: bindingOf({ reason: 'ServerUnreachable' }) })])).toBeUndefined()
    expect(problem([])).toBeUndefined()
  })

  test.each([
    ['it was just made', undefined, 'WaitingForService', 'was just created'],
    ['the server is slow', 'Issuing', 'WaitingForService', '(Issuing): x'],
    ['the server is away', 'ServerUnreachable', 'WaitingForService', '(ServerUnreachable): x'],
    ['the credential could do more', 'WiderThanAsked', 'ServiceNotUsable', '(WiderThanAsked): x'],
    ['the server refused', 'RefusedByServer', 'ServiceNotUsable', '(RefusedByServer): x'],
    ['of a reason of another version', 'Unheard', 'ServiceNotUsable', '(Unheard): x'],
  ])('while there is none, because %s', (_why, reason, expected, text) => {
    const binding = reason === undefined ? undefined : bindingOf({ reason, version: undefined })
    const found = problem([entryOf({ binding })])
    expect([found?.reason, found?.message]).toEqual([expected, expect.stringContaining(text)])
    expect(found?.message).toContain('spec.services[db]: ServiceBinding shop-db-')
  })

  test('for the Secret, not for the version alone', () => {
    const { status: { binding: _, ...status } = {}, ...rest } = bindingOf()
    expect(problem([entryOf({ binding: { ...rest, status } as ServiceBinding })])?.reason).toBe('WaitingForService')
  })
})

describe('an Application is refused', () => {
  test('without the instance', () => {
    expect(problem([entryOf({ service: undefined, serviceClass: undefined })])).toEqual({
      reason: 'ServiceNotFound',
      message: 'spec.services[db].instance: there is no ServiceInstance shop-db: create it, or correct the name',
    })
  })

  test('without the bucket', () => {
    const found = problem([entryOf({ use: bucketUse(), service: undefined, serviceClass: undefined })])
    expect(found?.message).toBe(
      'spec.services[pictures].bucket: there is no Bucket shop-pictures: create it, or correct the name',
    )
  })

  test('while the instance is being deleted, with the cure for that', () => {
    const found = problem([entryOf({ service: undefined, serviceClass: undefined, serviceEnds: true })])
    expect([found?.reason, found?.message]).toEqual(['ServiceNotFound', expect.stringContaining('remove the entry')])
  })

  test('when it is isolated, unless the class is there and offered to those', () => {
    const isolated = { isolated: true }
    expect(problem([entryOf()], isolated)?.reason).toBe('ServiceNotForIsolated')
    expect(problem([entryOf({ serviceClass: undefined })], isolated)?.reason).toBe('ServiceNotForIsolated')
    expect(problem([entryOf({ serviceClass: classOf({ allowIsolated: true }) })], isolated)).toBeUndefined()
  })

  test.each([
    ['two entries set DATABASE_URL', [use(), use({ name: 'other' })], {}, 'spec.services[db] sets DATABASE_URL, too'],
    ['spec.env sets it', [use()], { env: [{ name: 'DATABASE_URL', value: 'x' }] }, 'spec.env sets DATABASE_URL, too'],
    [
      'two buckets set the same',
      [bucketUse(), bucketUse({ name: 'other' })],
      {},
      'spec.services[pictures] sets AWS_ACCESS_KEY_ID, too: give it another name, such as spec.services[other].env: {OTHER_AWS_ACCESS_KEY_ID: access-key-id}',
    ],
    ['spec.env sets one of a bucket', [bucketUse()], { env: [{ name: 'BUCKET_NAME', value: 'x' }] }, 'spec.env sets BUCKET_NAME'],
    ['ca.crt is publicly trusted', [use({ env: { CA: 'ca.crt' } })], {}, 'have no ca.crt'],
    ...['etc', '/etc/../root', '/a/', '/', '/with space', undefined].map(
      value =>
        [
          `the folder is ${value}`,
          [use({ files: true })],
          { env: [{ name: 'SERVICE_BINDING_ROOT', ...(value === undefined ? { from: {} } : { value }) }] },
          'must be a value such as /bindings',
        ] as const,
    ),
  ] as const)('when %s', (_why, uses, spec, text) => {
    const found = problem(
      (uses as readonly ServiceUse[]).map(one => entryOf({ use: one })),
      spec as Partial<Application['spec']>,
    )
    expect([found?.reason, found?.message]).toEqual(['InvalidServices', expect.stringContaining(text)])
  })

  test('not when the variables of two entries differ, or one sets none', () => {
    const other = use({ name: 'other', env: { REPORT_URL: 'uri' } })
    expect(problem([entryOf(), entryOf({ use: other })])).toBeUndefined()
    expect(problem([entryOf(), entryOf({ use: bucketUse() })])).toBeUndefined()
    expect(problem([entryOf(), entryOf({ use: use({ name: 'other', env: {}, files: true }) })])).toBeUndefined()
  })
})

describe('the name of a ServiceBinding', () => {
  const name = (application: string, more: Partial<ServiceUse> = {}) => ownedBindingName(application, use(more))

  test('is another one for another Application, entry, instance or access', () => {
    const names = [
      name('shop'),
      name('shop', { instance: 'other' }),
      name('shop', { access: 'ReadOnly' }),
      name('shop', { name: 'd' }),
      // These begin alike.
      name('shop-db', { name: 'x' }),
      name('shop', { name: 'db-x' }),
    ]
    const buckets = [{}, { bucket: 'other' }, { access: 'WriteOnly' as const }, { prefix: 'a/' }, { prefix: 'a/b/' }]
    const all = [...names, ...buckets.map(more => ownedBindingName('shop', bucketUse({ name: 'db', ...more })))]
    expect(new Set(all).size).toBe(all.length)
    expect(name('shop')).toBe(name('shop', { files: true, env: {} }))
  })

  test('fits, and so does that of its Secret', () => {
    const longest = name('a'.repeat(63), { name: 'b'.repeat(40) })
    expect(longest).toMatch(/^a+-[0-9a-f]{8}$/)
    expect(longest.length).toBeLessThanOrEqual(55)
    expect(bindingSecretName(longest).length).toBeLessThanOrEqual(63)
  })
})

describe('the variables of an entry', () => {
  test('are those of its kind, with a prefix that too, and its own when it names some', () => {
    expect(serviceEnvironment(use())).toEqual({ DATABASE_URL: 'uri' })
    expect(Object.keys(serviceEnvironment(bucketUse()))).toEqual([
      'AWS_ACCESS_KEY_ID',
      'AWS_SECRET_ACCESS_KEY',
      'AWS_REGION',
      'AWS_ENDPOINT_URL_S3',
      'BUCKET_NAME',
    ])
    expect(serviceEnvironment(bucketUse({ prefix: 'a/' }))).toMatchObject({ BUCKET_NAME: 'bucket', BUCKET_PREFIX: 'prefix' })
    expect(serviceEnvironment(bucketUse({ env: {} }))).toEqual({})
  })
})

describe('a release', () => {
  test('is made for each other version, and for a binding that was made anew', () => {
    const versions = [bindingOf(), bindingOf({ version: 2 }), bindingOf({ uid: '99999999-1' })].map(
      binding => serviceVersions({ services: [entryOf({ binding })] })['service:db'],
    )
    expect(versions).toEqual(['1-11111111', '2-11111111', '1-99999999'])
  })

  test('says that a credential was replaced when nothing else differs', () => {
    const before = { shop: '1-a', 'service:db': '1-b' }
    expect(onlyCredentials(before, { ...before, 'service:db': '2-b' })).toBe(true)
    expect(onlyCredentials(before, { shop: '2-a', 'service:db': '2-b' })).toBe(false)
    expect(onlyCredentials(before, before)).toBe(false)
  })
})
