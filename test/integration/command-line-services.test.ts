// `sekisho services` and `sekisho why` as people of a tenant run them, on a real API server with all its rules: the program as a
// process, with the tokens of the tenant roles. The test is the process data-services and the controller of Applications.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { secrets } from '../../src/api/builtin/index.ts'
import type { ResourceType } from '../../src/api/resource.ts'
import { ownedBindingName, type ServiceUse, serviceOf } from '../../src/api/services/application-services.ts'
import {
  bindingSecretKeys,
  bindingSecretName,
  bindingSecretType,
  bucketSecretKeys,
} from '../../src/api/services/binding-secret.ts'
import { bucket } from '../../src/api/services/bucket.ts'
import { type ServiceBinding, serviceBinding } from '../../src/api/services/service-binding.ts'
import { serviceInstance } from '../../src/api/services/service-instance.ts'
import { ownerReference } from '../../src/kube/object/owner.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { type People, startPeople } from '../fixtures/command-line-people.ts'
import { clientOf, giveRightsIn } from '../fixtures/process-clients.ts'

const tenant = `svc-${process.pid.toString(36)}`
const [open, closed, store] = [`${tenant}-open`, `${tenant}-closed`, `${tenant}-store`]
const password = 'the password of nobody'
const services = 'services.sekisho.dev/v1alpha1'
let people: People
let dataServices: Awaited<ReturnType<typeof clientOf>>

const sekisho = (...args: readonly string[]) => people.sekisho('developer', 'services', ...args)
const json = async (...args: readonly string[]) => JSON.parse((await sekisho(...args, '-o', 'json')).out)
const path = (plural: string, name = '') => `/apis/${services}/namespaces/${tenant}/${plural}/${name}`
const applicationsPath = `/apis/apps.sekisho.dev/v1alpha1/namespaces/${tenant}/applications`

async function makeClass(name: string, more: object): Promise<void> {
  const limits = { connections: 20, storage: '1Gi' }
  const spec = {
    type: 'postgresql',
    description: `for tests of ${tenant}`,
    provider: { postgresql: { host: 'postgresql.test', adminSecret: { name: 'server' } } },
    plans: [
      { name: 'small', default: true, limits },
      { name: 'large', limits: { ...limits, storage: '10Gi' } },
    ],
    reach: { cidrs: ['10.0.7.12/32'] },
    extensions: ['pg_trgm'],
    ...more,
  }
  await people.admin.apply(`/apis/${services}/serviceclasses/${name}`, {
    apiVersion: services,
    kind: 'ServiceClass',
    metadata: { name },
    spec,
  })
}

beforeAll(async () => {
  people = await startPeople(tenant)
  await giveRightsIn(tenant, 'application')
  dataServices = await clientOf('sekisho-data-services')
  await makeClass(open, {})
  await makeClass(closed, { tenants: { matchLabels: { tier: 'gold' } } })
  const s3 = { endpoint: 'https://s3.test', iamEndpoint: 'https://iam.test', adminSecret: { name: 'store' } }
  const plans = [{ name: 'small', default: true, limits: { storage: '1Gi' } }]
  await makeClass(store, { type: 'bucket', provider: { s3 }, plans, extensions: undefined })
  for (const name of ['shop', 'report'])
    await people.admin.call('POST', applicationsPath, {
      apiVersion: 'apps.sekisho.dev/v1alpha1',
      kind: 'Application',
      metadata: { name },
      spec: { image: `registry.example/shop@sha256:${'1'.repeat(64)}`, processes: [{ name: 'web', port: 3000 }] },
    })
  await waitUntil('the roles to be in effect', async () => (await people.sekisho('viewer', 'services', 'list')).code === 0)
})

afterAll(async () => {
  for (const name of [open, closed, store]) await people?.admin.call('DELETE', `/apis/${services}/serviceclasses/${name}`)
  await dataServices?.close()
  await people?.stop()
})

const condition = (type: string, reason: string, generation = 1) => ({
  type,
  status: ['Provisioned', 'Delivered', 'Answering'].includes(reason) ? 'True' : 'False',
  reason,
  message: `the message of ${reason}`,
  lastTransitionTime: '2026-01-01T00:00:00Z',
  observedGeneration: generation,
})

/** What data-services reports of an instance or bucket. */
async function provision(name: string, reason: string, type: ResourceType = serviceInstance, more: object = {}): Promise<void> {
  const { apiVersion, kind } = type
  const status = {
    observedGeneration: 1,
    plan: 'small',
    usage: { storage: '120Mi', measuredAt: '2026-01-01T00:00:00Z' },
    conditions: [condition('Provisioned', reason), condition('Ready', reason)],
    ...more,
  }
  const object = { apiVersion, kind, metadata: { namespace: tenant, name }, status }
  await dataServices.applyStatus(type, object, { fieldManager: 'sekisho.dev/service-instance', force: true })
}

async function bindingOf(name: string): Promise<ServiceBinding> {
  return (await people.admin.call('GET', path('servicebindings', name))) as ServiceBinding
}

/** What data-services does when it has made and tried a credential. */
async function deliver(name: string, version: number, issuedAt: string): Promise<ServiceBinding> {
  const binding = await bindingOf(name)
  const secret = bindingSecretName(name)
  const keys = binding.spec.service.kind === 'Bucket' ? bucketSecretKeys : bindingSecretKeys
  await dataServices.apply(
    secrets,
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace: tenant, name: secret, ownerReferences: [ownerReference(binding, { controller: true })] },
      type: bindingSecretType[binding.spec.service.kind === 'Bucket' ? 'bucket' : 'postgresql'],
      stringData: Object.fromEntries(keys.map(key => [key, `${key} ${password}`])),
    },
    { fieldManager: 'sekisho.dev/service-binding', force: true },
  )
  const generation = binding.metadata.generation ?? 1
  const status = {
    observedGeneration: generation,
    binding: { name: secret },
    version,
    slots: [{ slot: version % 2 === 0 ? 'b' : 'a', state: 'Delivered', issuedAt }],
    conditions: ['Issued', 'Proven', 'Ready'].map(type => condition(type, 'Delivered', generation)),
  }
  const { apiVersion, kind } = serviceBinding
  const object = { apiVersion, kind, metadata: { namespace: tenant, name }, status }
  await dataServices.applyStatus(serviceBinding, object, { fieldManager: 'sekisho.dev/service-binding', force: true })
  return binding
}

async function makeBinding(application: string, entry: ServiceUse): Promise<string> {
  const owner = (await people.admin.call('GET', `${applicationsPath}/${application}`)) as { metadata: { uid: string } }
  const name = ownedBindingName(application, entry)
  await people.admin.call('POST', path('servicebindings'), {
    apiVersion: services,
    kind: 'ServiceBinding',
    metadata: {
      name,
      ownerReferences: [
        {
          apiVersion: 'apps.sekisho.dev/v1alpha1',
          kind: 'Application',
          name: application,
          uid: owner.metadata.uid,
          controller: true,
        },
      ],
    },
    spec: { service: serviceOf(entry), access: entry.access, ...(entry.prefix && { prefix: entry.prefix }) },
  })
  return name
}

async function entries(application: string): Promise<unknown> {
  const found = (await people.admin.call('GET', `${applicationsPath}/${application}`)) as { spec: { services?: unknown } }
  return found.spec.services
}

describe('a developer', () => {
  test('sees what is offered, and to whom', async () => {
    const rows = (await json('classes')) as readonly { readonly class: string }[]
    expect(rows.filter(row => [open, closed].includes(row.class))).toMatchObject([
      { class: closed, offered: null, tenants: { tier: 'gold' } },
      { class: open, offered: true, plans: [{ name: 'small', default: true }, { name: 'large' }], extensions: ['pg_trgm'] },
    ])
    const text = (await sekisho('classes', closed)).out
    expect(text).toMatch(/For you +to some \(tier=gold\): ask a platform admin/)
    expect(text).toMatch(/Plan large +10Gi of space, 20 connections for each credential/)
    // Whoever may read Tenants would see more; nobody of a tenant may.
    expect((await people.sekisho('viewer', 'services', 'classes', '-o', 'yaml')).code).toBe(0)
  })

  test('makes a database, again without a change, and a manifest of one', async () => {
    const manifest = await sekisho('create', 'shop-db', '--class', open, '--plan', 'large', '--dry-run', '-o', 'yaml')
    expect(parse(manifest.out)).toEqual({
      apiVersion: services,
      kind: 'ServiceInstance',
      metadata: { name: 'shop-db', namespace: tenant },
      spec: { class: open, plan: 'large', whenDeleted: 'Keep' },
    })
    expect(await json('list')).toEqual([])
    expect((await sekisho('create', 'shop-db', '--class', open, '--extension', 'pg_trgm')).out).toContain(
      'database shop-db created. Next: sekisho services attach shop-db APPLICATION',
    )
    expect((await sekisho('create', 'shop-db', '--class', open)).out).toContain('exists already: nothing was changed')
    const spec = { class: open, parameters: { postgresql: { extensions: ['pg_trgm'] } }, whenDeleted: 'Keep' }
    expect(await people.admin.call('GET', path('serviceinstances', 'shop-db'))).toMatchObject({ spec })
  })

  test.each<[readonly string[], number, RegExp]>([
    [['create', 'other', '--class', `${open}x`], 1, /ServiceClass .*x does not exist; there are .*did you mean/],
    [
      ['create', 'shop-db', '--class', open, '--plan', 'large'],
      1,
      /database shop-db exists already, and its plan is the default one/,
    ],
    [['info', 'shop-bd'], 1, /service shop-bd does not exist in .*did you mean shop-db\?/],
    [['attach', 'shop-db', 'shpo'], 1, /Application shpo does not exist in .*did you mean shop\?/],
    [['attach', 'shop-db', 'shop', '--env', 'PORT=uri'], 2, /neither PORT nor SEKISHO_/],
    [['attach', 'shop-db', 'shop', '--env', 'X=nothing'], 2, /spec\.services/],
    [['delete', 'shop-db', '--delete-data'], 2, /its whenDeleted is Keep/],
  ])('%j is refused with its cure', async (args, code, says) => {
    const { out, err, ...finished } = await sekisho(...args)
    expect(err).toMatch(says)
    expect({ ...finished, out }).toEqual({ code, out: '' })
  })

  test('gives it to Applications and takes it away, each once', async () => {
    expect((await sekisho('attach', 'shop-db', 'shop', '--dry-run')).out).toContain('(dry run)')
    expect(await entries('shop')).toBeUndefined()
    expect(await json('attach', 'shop-db', 'shop', '--name', 'db')).toMatchObject({
      changed: true,
      entry: { name: 'db', instance: 'shop-db', access: 'ReadWrite' },
      binding: ownedBindingName('shop', { name: 'db', instance: 'shop-db', access: 'ReadWrite' }),
    })
    expect((await sekisho('attach', 'shop-db', 'shop')).out).toContain('shop uses already shop-db as db, ReadWrite')
    const more = ['--access', 'ReadOnly', '--env', 'REPORT_URL=uri', '--env', 'PGHOST=host', '--files']
    expect((await sekisho('attach', 'shop-db', 'report', ...more)).code).toBe(0)
    expect(await entries('report')).toEqual([
      {
        name: 'shop-db',
        instance: 'shop-db',
        access: 'ReadOnly',
        env: { REPORT_URL: 'uri', PGHOST: 'host' },
        files: true,
      },
    ])
    expect((await sekisho('delete', 'shop-db')).err).toMatch(
      /shop-db is used by report, shop: first run sekisho services detach shop-db report and sekisho services detach shop-db shop/,
    )
    expect((await sekisho('detach', 'shop-db', 'report')).out).toContain('report does not use shop-db any more (shop-db)')
    expect((await sekisho('detach', 'shop-db', 'report')).out).toContain('nothing was changed')
    expect(await entries('report')).toBeUndefined()
  })

  test('waits for the credential, sees its age and never the credential, and has another one', async () => {
    const attaching = sekisho('attach', 'shop-db', 'shop', '--wait')
    await provision('shop-db', 'Provisioned')
    const name = await makeBinding('shop', { name: 'db', instance: 'shop-db', access: 'ReadWrite' })
    await deliver(name, 1, '2026-01-01T00:00:00Z')
    expect(await attaching).toMatchObject({ code: 0, out: expect.stringContaining('the credential is delivered') })

    expect(await json('list')).toMatchObject([
      { service: 'shop-db', class: open, plan: 'small', ready: true, usedBy: [{ application: 'shop', entry: 'db' }] },
    ])
    const info = await sekisho('info', 'shop-db')
    expect(info.out).toMatch(/space +120Mi of 1Gi/)
    expect(info.out).toMatch(new RegExp(`Credential ${name} +ReadWrite, for shop, \\d+d old`))
    const all = [info.out, (await sekisho('info', 'shop-db', '-o', 'json')).out, (await sekisho('list', '-o', 'yaml')).out]
    for (const text of all) expect(text).not.toContain(password)

    const rotating = sekisho('rotate', 'shop-db', '--application', 'shop')
    await waitUntil('the time', async () => (await bindingOf(name)).spec.rotate)
    await deliver(name, 2, new Date().toISOString())
    expect(await rotating).toMatchObject({ code: 0, out: expect.stringContaining(`${name} of shop: version 2 is delivered`) })
    expect((await sekisho('rotate', 'shop-db', '--dry-run')).out).toContain('would be replaced (dry run)')
    expect((await sekisho('rotate', 'shop-db', '--no-wait')).out).toContain('another credential is asked for')
  })

  test('learns where the way to the credential ends', async () => {
    const why = (...args: readonly string[]) => people.sekisho('developer', 'why', ...args)
    const name = ownedBindingName('shop', { name: 'db', instance: 'shop-db', access: 'ReadWrite' })
    const steps = async (object: string) =>
      (JSON.parse((await why(object, '-o', 'json')).out) as { steps: { step: string; mark: string }[] }).steps.map(
        ({ step, mark }) => `${step} ${mark}`,
      )
    // Nobody has tried the class.
    expect(await steps(`servicebinding/${name}`)).toEqual([
      'class open',
      'database ok',
      'credential ok',
      'proof ok',
      'delivered ok',
      'used open',
    ])
    expect((await steps('application/shop')).join(', ')).toContain('services ok, class open, database ok, credential ok')
    await provision('shop-db', 'InstanceMissing')
    const { code, out } = await why('serviceinstance/shop-db')
    expect(code).toBe(1)
    expect(out).toMatch(/stops at: database\n {2}InstanceMissing: the message of InstanceMissing\n {2}what to do: .*backup/)
    expect((await why('database/shop-dbx')).err).toContain('did you mean shop-db?')
  })

  test('deletes what nothing uses, and hears what becomes of the data', async () => {
    await sekisho('detach', 'shop-db', 'shop')
    expect((await sekisho('delete', 'shop-db')).err).toContain('pods of earlier releases of shop still use shop-db')
    const name = ownedBindingName('shop', { name: 'db', instance: 'shop-db', access: 'ReadWrite' })
    await people.admin.call('DELETE', path('servicebindings', name))
    expect((await sekisho('delete', 'shop-db', '--dry-run')).out).toContain(
      'would be deleted (dry run); its data stay on the server',
    )
    expect(await sekisho('delete', 'shop-db', '--wait')).toEqual({
      code: 0,
      out: expect.stringContaining('database shop-db is deleted; its data stay on the server without a credential'),
      err: '',
    })
    expect(await json('list')).toEqual([])
    await sekisho('create', 'scratch', '--class', open, '--when-deleted', 'Delete')
    expect((await sekisho('delete', 'scratch')).err).toContain('say so with --delete-data')
    expect((await sekisho('delete', 'scratch', '--delete-data')).out).toContain('its data are deleted, too')
  })
})

describe('a developer, of a bucket', () => {
  const entry: ServiceUse = { name: 'pictures', bucket: 'pictures', access: 'WriteOnly', prefix: 'inbox/' }
  const binding = ownedBindingName('shop', entry)

  test('makes one, gives it to an Application with a prefix, and sees what is in it and never the key', async () => {
    expect((await sekisho('create', 'pictures', '--class', store, '--extension', 'pg_trgm')).err).toContain('extension')
    expect((await sekisho('create', 'pictures', '--class', store)).out).toContain(
      'bucket pictures created. Next: sekisho services attach pictures APPLICATION',
    )
    expect(await people.admin.call('GET', path('buckets', 'pictures'))).toMatchObject({
      kind: 'Bucket',
      spec: { class: store, whenDeleted: 'Keep', emptyWhenDeleted: false },
    })
    const usage = { storage: '3Mi', objects: 12, measuredAt: '2026-01-01T00:00:00Z' }
    await provision('pictures', 'Provisioned', bucket, { bucket: 'b2x', endpoint: 'https://s3.test', region: 'us-east-1', usage })
    const attaching = sekisho('attach', 'pictures', 'shop', '--access', 'WriteOnly', '--prefix', 'inbox/', '--wait')
    await waitUntil('the entry', async () => (await entries('shop')) !== undefined || undefined)
    expect(await entries('shop')).toEqual([entry])
    expect(await makeBinding('shop', entry)).toBe(binding)
    await deliver(binding, 1, '2026-01-01T00:00:00Z')
    expect(await attaching).toMatchObject({ code: 0, out: expect.stringContaining('the credential is delivered') })
    expect(await json('list')).toMatchObject([
      { service: 'pictures', class: store, plan: 'small', ready: true, usedBy: [{ application: 'shop', entry: 'pictures' }] },
    ])
    const info = await sekisho('info', 'pictures')
    expect(info.out).toMatch(/space +3Mi of 1Gi/)
    expect(info.out).toMatch(/objects +12/)
    expect(info.out).toContain(`${binding}`)
    for (const text of [info.out, (await sekisho('info', 'pictures', '-o', 'json')).out]) expect(text).not.toContain(password)
  })

  test('has another key, and takes it away and deletes it, as with a database', async () => {
    const rotating = sekisho('rotate', 'pictures')
    await waitUntil('the time', async () => (await bindingOf(binding)).spec.rotate)
    await deliver(binding, 2, new Date().toISOString())
    expect(await rotating).toMatchObject({ code: 0, out: expect.stringContaining('version 2 is delivered') })
    expect((await sekisho('delete', 'pictures')).err).toContain('sekisho services detach pictures shop')
    expect((await sekisho('detach', 'pictures', 'shop')).out).toContain('shop does not use pictures any more')
    await people.admin.call('DELETE', path('servicebindings', binding))
    expect(await sekisho('delete', 'pictures', '--wait')).toMatchObject({
      code: 0,
      out: expect.stringContaining('bucket pictures is deleted'),
    })
    expect(await json('list')).toEqual([])
  })
})

test('a viewer sees and changes nothing, and an outsider sees classes only', async () => {
  expect((await people.sekisho('viewer', 'services', 'create', 'x', '--class', open)).err).toContain(
    `you may not create serviceinstances in ${tenant}: it takes the role developer`,
  )
  expect((await people.sekisho('viewer', 'services', 'attach', 'x', 'shop')).err).toContain('does not exist')
  expect((await people.sekisho('outsider', 'services', 'list')).err).toContain('it takes the role viewer')
})

test('a tenant that has as many as it may is told who can raise that', async () => {
  await people.admin.call('POST', `/api/v1/namespaces/${tenant}/resourcequotas`, {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'tenant-kinds' },
    spec: { hard: { 'count/serviceinstances.services.sekisho.dev': '0' } },
  })
  const refused = await waitUntil(
    'the quota',
    async () => {
      const { err } = await sekisho('create', 'one-more', '--class', open, '--dry-run')
      return err.includes('as many databases as it may') ? err : undefined
    },
    { everyMilliseconds: 1000 },
  )
  expect(refused).toContain('ask a platform admin to raise spec.limits.services of the Tenant')
})
