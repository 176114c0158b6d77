// Previews that have a database or a bucket for themselves: made before they need it, used by nobody else, gone with them. The
// controllers of previews and data-services with their ServiceAccounts, real git, a real API server, a real PostgreSQL and a real
// store against the GitHub emulator. The tests act as kpack, the grant controller, the kubelet and the broker that wakes.
import { ListBucketsCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { setPullRequestState } from '../../dev/github/actions/pull-requests/pull-requests.ts'
import { startPostgres, type TestPostgres } from '../../dev/postgres/start-postgres.ts'
import { startVersitygw } from '../../dev/versitygw/start-versitygw.ts'
import { previewServiceName } from '../../src/api/apps/app-pipeline/services.ts'
import { appPipeline } from '../../src/api/apps/app-pipeline.ts'
import { application } from '../../src/api/apps/application.ts'
import { secrets } from '../../src/api/builtin/index.ts'
import { labels } from '../../src/api/names.ts'
import { ownedBindingName, type ServiceUse } from '../../src/api/services/application-services.ts'
import { bindingSecretName } from '../../src/api/services/binding-secret.ts'
import { type Bucket, bucket } from '../../src/api/services/bucket.ts'
import { serviceBinding } from '../../src/api/services/service-binding.ts'
import { type ServiceInstance, serviceInstance } from '../../src/api/services/service-instance.ts'
import { limits, timeLimit } from '../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { readyReason } from '../fixtures/application-fixture.ts'
import { type DatabaseServices, query, startBucketServices, startDatabaseServices } from '../fixtures/database-services.ts'
import { clock, github, renderer, useEmulatedGitHub } from '../fixtures/emulated-github.ts'
import { isLong } from '../fixtures/form.ts'
import { objectsOf, type Previews, startPipelineFixture } from '../fixtures/pipeline-fixture.ts'
import { actsOn } from '../fixtures/pull-requests.ts'
import { put } from '../fixtures/put-object.ts'
import { succeeded } from '../fixtures/remote-sync-fixture.ts'

useEmulatedGitHub()

const { push, open, pullOf, actionOf, fork, hub } = actsOn(
  () => github,
  () => clock,
)

/** Nothing of it runs: each test is about what is made. */
const processes = [{ name: 'web', port: 3000, replicas: 0 }]

type Fixture = Previews & DatabaseServices & { readonly template: (more?: object) => { readonly template: object } }

type Opened = { readonly number: number; readonly commit: string }

async function opened(fixture: Previews, branch = 'feature'): Promise<Opened> {
  const commit = await push('dave', 'acme/shop', branch, branch)
  const { number } = await open('dave', branch)
  await fixture.wakePipeline()
  return { number, commit }
}

const setState = (number: number, state: 'open' | 'closed') => setPullRequestState(actionOf('dave'), pullOf(number), state)

/** What the Secret holds that the pods of the preview have. */
async function credential({ client, namespace }: Previews, number: number, use: ServiceUse): Promise<Record<string, string>> {
  const name = ownedBindingName(`shop-pr-${number}`, use)
  await readyReason(client, serviceBinding, { namespace, name }, 'Delivered')
  const secret = await client.get(secrets, { namespace, name: bindingSecretName(name) })
  const plain = (value: string): string => Buffer.from(value, 'base64').toString('utf8')
  return Object.fromEntries(Object.entries(secret?.data ?? {}).map(([key, value]) => [key, plain(value)]))
}

test('a bucket of its own is there before the preview runs, and is gone with every object in it', async () => {
  const store = await startVersitygw()
  onTestFinished(store.stop)
  const fixture = await startPipelineFixture(renderer, { hub: hub(), changes: {} })
  await startBucketServices(store, { ...fixture, clock })
  const { client, namespace, chart } = fixture
  const web = { chart, processes, services: [{ name: 'pictures', bucket: 'shared' }] }
  const services = [{ name: 'pictures', class: namespace, parameters: { bucket: { versioning: true } } }]
  const postgresql = { postgresql: { extensions: ['pg_trgm'] } }
  const wrong = { application: web, build: {}, services: [{ name: 'pictures', class: namespace, parameters: postgresql }] }
  await expect(fixture.applyPipeline({ template: wrong })).rejects.toThrow(/parameters of an entry of services are those of/)
  await fixture.applyPipeline({ template: { application: web, build: {}, services } })

  const { number, commit } = await opened(fixture)
  const made = await waitUntil('the bucket of the preview', async (): Promise<Bucket> => {
    const [found] = await client.list(bucket, { namespace })
    if (found?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True')) return found
    throw new Error(JSON.stringify(found?.status))
  })
  expect(made.spec).toEqual({ class: namespace, versioning: true, whenDeleted: 'Delete', emptyWhenDeleted: true })
  expect(made.metadata.labels?.[labels.pullRequest]).toBe(String(number))
  await fixture.approve(`shop-pr-${number}`)
  await fixture.endBuild(await fixture.buildOf(commit), succeeded(1))
  const use = { name: 'pictures', bucket: made.metadata.name, access: 'ReadWrite' as const }
  const values = await credential(fixture, number, use)
  const app = await client.get(application, { namespace, name: `shop-pr-${number}` })
  expect(app?.spec.services).toEqual([use])

  const openStore = (accessKeyId = '', secretAccessKey = ''): S3Client => {
    const credentials = { accessKeyId, secretAccessKey }
    const s3 = new S3Client({ endpoint: store.endpoint.href, region: store.region, forcePathStyle: true, credentials })
    onTestFinished(() => s3.destroy())
    return s3
  }
  const own = openStore(values['access-key-id'], values['secret-access-key'])
  await own.send(new PutObjectCommand({ Bucket: values['bucket'], Key: 'a', Body: 'first' }))
  await own.send(new PutObjectCommand({ Bucket: values['bucket'], Key: 'a', Body: 'second' }))

  // Nobody keeps what comes from a pull request: its Bucket is the platform's.
  await setState(number, 'closed')
  await fixture.wakePipeline()
  await waitUntil('it is gone', async () => (await client.list(bucket, { namespace })).length === 0)
  const { accessKeyId, secretAccessKey } = store.key
  const { Buckets = [] } = await openStore(accessKeyId, secretAccessKey.reveal()).send(new ListBucketsCommand({}))
  expect(Buckets.filter(({ Name }) => Name === values['bucket'])).toEqual([])
  expect(await fixture.existing()).toEqual([])

  // The name that the next one needs may be taken: that is said, and what somebody made is not touched.
  const pipeline = await client.get(appPipeline, { namespace, name: 'shop' })
  const next = number + 1
  const name = previewServiceName(pipeline?.metadata ?? { name: '' }, next, { name: 'pictures', class: namespace })
  await put(client, bucket, { namespace, name }, { spec: { class: namespace } })
  expect((await opened(fixture, 'next')).number).toBe(next)
  await waitUntil('the conflict is said', async () => {
    const found = (await client.get(appPipeline, { namespace, name: 'shop' }))?.status?.previews?.find(one => one.number === next)
    return found?.reason === 'NameConflict' || undefined
  })
  expect((await client.get(bucket, { namespace, name }))?.metadata.ownerReferences).toBeUndefined()
})

describe.skipIf(process.env['SEKISHO_TEST_POSTGRES'] === 'skip')('a preview with a database of its own', () => {
  let postgres: TestPostgres
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres?.stop())

  type Options = { readonly changes?: object; readonly sweepMilliseconds?: number }

  async function start({ changes = {}, ...more }: Options = {}): Promise<Fixture> {
    const fixture = await startPipelineFixture(renderer, { hub: hub(), changes: { ...changes }, ...more })
    const services = await startDatabaseServices(postgres, { ...fixture, clock })
    const use = [{ name: 'db', instance: 'shared' }]
    const web = { chart: fixture.chart, processes, services: use }
    const template = (own: object = {}) => ({
      template: { application: web, build: {}, services: [{ name: 'db', class: fixture.namespace, ...own }] },
    })
    await fixture.applyPipeline(template())
    return { ...fixture, ...services, template }
  }

  const instances = ({ client, namespace }: Previews) => client.list(serviceInstance, { namespace })
  const ofPull = async (fixture: Previews, number: number): Promise<readonly ServiceInstance[]> =>
    (await instances(fixture)).filter(({ metadata }) => metadata.labels?.[labels.pullRequest] === String(number))

  /** Waits for the instance of a pull request that is ready, and is not the one with that uid. */
  const provisioned = (fixture: Previews, number: number, not = ''): Promise<ServiceInstance> =>
    waitUntil(`the service of #${number}`, async () => {
      const found = (await ofPull(fixture, number)).find(({ metadata }) => metadata.uid !== not)
      if (found?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True')) return found
      throw new Error(JSON.stringify(found?.status))
    })

  /** With the credential in the Secret that the pods of the preview have. */
  async function uriOf(fixture: Previews, number: number, { metadata: { name } }: ServiceInstance): Promise<string> {
    return (await credential(fixture, number, { name: 'db', instance: name, access: 'ReadWrite' }))['uri'] ?? ''
  }

  async function untilNothingIsLeft(fixture: Fixture): Promise<void> {
    await waitUntil(
      'nothing of the previews is left',
      async () => {
        const { client, namespace } = fixture
        const bindings = (await client.list(serviceBinding, { namespace })).map(({ metadata }) => metadata.name)
        const made = (await instances(fixture)).map(({ metadata }) => metadata.name)
        const left = [...(await fixture.existing()), ...bindings, ...made, ...(await fixture.onServer())]
        if (left.length === 0) return true
        throw new Error(left.join(', '))
      },
      { timeoutMilliseconds: limits.minutes },
    )
  }

  test('it is there before the preview runs, its pods have its credential and no other, and nothing is left of it', async () => {
    const fixture = await start()
    const { client, namespace } = fixture
    const { number, commit } = await opened(fixture)
    const second = await opened(fixture, 'other')
    const [mine, theirs] = [await provisioned(fixture, number), await provisioned(fixture, second.number)]
    expect(mine.spec).toEqual({ class: namespace, whenDeleted: 'Delete' })
    await fixture.approve(`shop-pr-${number}`)
    await fixture.approve(`shop-pr-${second.number}`)
    await fixture.endBuild(await fixture.buildOf(commit), succeeded(1))
    const uri = await uriOf(fixture, number, mine)
    await query(uri, 'CREATE TABLE orders AS SELECT 7 AS id')
    const app = await client.get(application, { namespace, name: `shop-pr-${number}` })
    expect(app?.spec.services).toEqual([{ name: 'db', instance: mine.metadata.name, access: 'ReadWrite' }])
    // The server refuses it the database of the other preview.
    const foreign = new URL(uri)
    foreign.pathname = `/${theirs.status?.externalId}`
    await expect(query(foreign.href, 'SELECT 1')).rejects.toMatchObject({ code: '42501' })

    await setState(number, 'closed')
    await fixture.wakePipeline()
    await waitUntil('its service is gone', async () => (await ofPull(fixture, number)).length === 0)
    expect((await fixture.onServer()).filter(name => name.includes(mine.status?.externalId ?? ''))).toEqual([])
    expect(await fixture.existing()).toEqual(objectsOf(second.number))

    // Opened again it begins with nothing, under the same name.
    await setState(number, 'open')
    await fixture.wakePipeline()
    const fresh = await provisioned(fixture, number, mine.metadata.uid)
    expect(fresh.metadata.name).toBe(mine.metadata.name)
    await fixture.approve(`shop-pr-${number}`)
    await fixture.endBuild(await fixture.buildOf(commit), succeeded(1))
    expect(await query(await uriOf(fixture, number, fresh), `SELECT to_regclass('orders') AS found`)).toEqual([{ found: null }])

    await client.delete(appPipeline, { namespace, name: 'shop' })
    await untilNothingIsLeft(fixture)
  })

  test('the row says what it waits for: a plan that there is not, a quota, a name that somebody took', async () => {
    const fixture = await start()
    const { client, namespace } = fixture
    const row = async (number: number) =>
      (await client.get(appPipeline, { namespace, name: 'shop' }))?.status?.previews?.find(one => one.number === number)
    const says = (number: number, reason: string) =>
      waitUntil(`#${number} says ${reason}`, async () => {
        const found = await row(number)
        if (found?.reason === reason) return found
        throw new Error(`${found?.reason}: ${found?.message}`)
      })
    await fixture.applyPipeline(fixture.template({ plan: 'huge' }))
    const { number } = await opened(fixture)
    const failed = await says(number, 'ServiceNotUsable')
    expect(failed).toMatchObject({ state: 'Failed' })
    expect(failed.message).toContain('(PlanNotFound)')
    await fixture.applyPipeline(fixture.template({ plan: 'small' }))
    await provisioned(fixture, number)

    const quota = { apiVersion: 'v1', kind: 'ResourceQuota', plural: 'resourcequotas', namespaced: true } as const
    const hard = { 'count/serviceinstances.services.sekisho.dev': '1' }
    await put(client, quota, { namespace, name: 'q' }, { spec: { hard } })
    await waitUntil('the quota counts', async () => {
      const found = (await client.get(quota, { namespace, name: 'q' })) as
        | { readonly status?: { readonly used?: object } }
        | undefined
      return Object.values(found?.status?.used ?? {})[0] === '1'
    })
    const second = await opened(fixture, 'other')
    expect(await says(second.number, 'QuotaExceeded')).toMatchObject({ state: 'Waiting' })
    // Nothing of it is there, not half of it.
    expect(await fixture.existing()).toEqual(objectsOf(number))
    await client.delete(quota, { namespace, name: 'q' })

    const pipeline = await client.get(appPipeline, { namespace, name: 'shop' })
    const third = second.number + 1
    const taken = previewServiceName(pipeline?.metadata ?? { name: '' }, third, { name: 'db', class: namespace })
    await put(client, serviceInstance, { namespace, name: taken }, { spec: { class: namespace } })
    expect((await opened(fixture, 'third')).number).toBe(third)
    expect(await says(third, 'NameConflict')).toMatchObject({ state: 'Failed' })
    expect((await client.get(serviceInstance, { namespace, name: taken }))?.metadata.ownerReferences).toBeUndefined()
  })

  test('an entry that the template has no more takes its service with it; one that somebody deletes is made again', async () => {
    const fixture = await start()
    const { client, namespace, chart } = fixture
    const { number, commit } = await opened(fixture)
    const first = await provisioned(fixture, number)
    await client.delete(serviceInstance, { namespace, name: first.metadata.name })
    const second = await provisioned(fixture, number, first.metadata.uid)
    expect(second.metadata.name).toBe(first.metadata.name)
    await waitUntil('all of it is there again', async () => (await fixture.existing()).length === 2)

    await fixture.approve(`shop-pr-${number}`)
    await fixture.endBuild(await fixture.buildOf(commit), succeeded(1))
    await fixture.rows({ [number]: 'Running' })

    const application = { chart, processes, services: [{ name: 'main', instance: 'x' }] }
    await fixture.applyPipeline({ template: { application, build: {}, services: [{ name: 'main', class: namespace }] } })
    const renamed = await provisioned(fixture, number, second.metadata.uid)
    expect(renamed.metadata.name).toContain('-main-')
    await waitUntil('the former one is gone', async () => (await ofPull(fixture, number)).length === 1)
    await fixture.rows({ [number]: 'Running' })
    await fixture.applyPipeline({ template: { application: { ...application, services: [] }, build: {} } })
    await waitUntil('no service is left', async () => (await fixture.onServer()).length === 0)
    expect(await fixture.existing()).toEqual(objectsOf(number))
  })

  test('the template is refused when an entry has no use', async () => {
    const fixture = await start()
    const { template } = fixture.template({ name: 'cache' }) as { readonly template: object }
    await expect(fixture.applyPipeline({ template })).rejects.toThrow(/needs an entry of the same name in application.services/)
  })

  test('a fork has one only where the template says so and the class allows it, and it is nobody else’s', async () => {
    const fixture = await start({ changes: { policy: { forks: 'Approved' } } })
    const { client, namespace } = fixture
    const own = await opened(fixture)
    const mine = await provisioned(fixture, own.number)
    await fork()
    const theirs = await push('noah', 'noah/shop', 'main', 'theirs')
    const { number } = await open('noah', 'noah:main')
    await fixture.wakePipeline()
    await fixture.rows({ [own.number]: 'Waiting', [number]: 'WaitingForApproval' })
    expect(await ofPull(fixture, number)).toEqual([])
    await fixture.approveHead(number, theirs)
    await waitUntil('it is there', async () => (await fixture.existing()).includes(`Application shop-pr-${number}`))
    const key = { namespace, name: `shop-pr-${number}` }
    expect((await client.get(application, key))?.spec).toMatchObject({ isolated: true, services: [] })
    expect(await ofPull(fixture, number)).toEqual([])

    const { template } = fixture.template() as { readonly template: object }
    await fixture.applyPipeline({ template: { ...template, public: { services: ['db'] } } })
    await waitUntil('the wall says why', async () => {
      const found = await client.get(appPipeline, { namespace, name: 'shop' })
      return found?.status?.previews?.find(one => one.number === number)?.reason === 'ServiceNotForIsolated'
    })
    expect(await ofPull(fixture, number)).toEqual([])

    await fixture.offerToIsolated(true)
    await fixture.wakePipeline()
    const made = await provisioned(fixture, number)
    expect(made.status?.externalId).not.toBe(mine.status?.externalId)
    expect((await client.get(application, key))?.spec.services).toEqual([
      { name: 'db', instance: made.metadata.name, access: 'ReadWrite' },
    ])
  })

  const patience = { timeoutMilliseconds: limits.minutes }

  /** Those that are not being deleted. */
  const kept = async (fixture: Previews): Promise<readonly ServiceInstance[]> =>
    (await instances(fixture)).filter(({ metadata }) => metadata.deletionTimestamp === undefined)

  /** Waits until each of so many previews has a service that is not in `uids`, and adds them: none of them may be ready. */
  async function untilFresh(fixture: Previews, uids: Set<string>, count: number): Promise<void> {
    const fresh = await waitUntil(
      'each has another service',
      async () => {
        const found = (await kept(fixture)).map(({ metadata }) => metadata.uid ?? '').filter(uid => !uids.has(uid))
        if (found.length === count) return found
        throw new Error(`${found.length} of ${count}`)
      },
      patience,
    )
    for (const uid of fresh) uids.add(uid)
  }

  /** Each number of webhooks comes with opening and with closing in the short form, too. */
  const rounds = isLong('preview-services') ? 9 : 4

  test('cycles of opening and closing, with webhooks lost and doubled, leave nothing on the server', {
    timeout: timeLimit(600_000),
  }, async () => {
    const fixture = await start({ sweepMilliseconds: 2_000 })
    const numbers: number[] = []
    for (const branch of ['a', 'b', 'c', 'd', 'e', 'f']) numbers.push((await opened(fixture, branch)).number)
    const uids = new Set<string>()
    const turn = async (state: 'open' | 'closed', webhooks: number): Promise<void> => {
      await Promise.all(numbers.map(number => setState(number, state)))
      for (let webhook = 0; webhook < webhooks; webhook++) await fixture.wakePipeline()
    }
    for (let round = 0; round < rounds; round++) {
      if (round > 0) await turn('open', round % 3)
      await untilFresh(fixture, uids, numbers.length)
      await turn('closed', (round + 1) % 3)
      await waitUntil('all are closed', async () => (await kept(fixture)).length === 0, patience)
    }
    expect(uids.size).toBe(rounds * numbers.length)
    await untilNothingIsLeft(fixture)
  })
})
