// AppSecrets on a real API server with the webhook and the policies: whatever way a value goes in, no answer, no stored object
// and no log of the API server contains it. Every reply of the test is kept and searched at the end.
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { catalog } from '../../dev/cluster/binaries/catalog.ts'
import { ensureBinary } from '../../dev/cluster/binaries/ensure-binary.ts'
import { readClusterSettings } from '../../dev/cluster/settings.ts'
import { createAdmissionApp } from '../../src/admission/app.ts'
import type { FindSealer } from '../../src/admission/app-secrets/public-key.ts'
import { policyFiles } from '../../src/admission/policies.ts'
import { registrations } from '../../src/admission/registrations.ts'
import { makeOpeningKey, openingKeyOf } from '../../src/identity/sealed-values/open.ts'
import { sealerOf } from '../../src/identity/sealed-values/seal.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { silentLog } from '../../src/lib/testing/silent-log.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import type { DrainedServer } from '../../src/web/drained-server.ts'
import { createCertificate } from '../../src/web/tls.ts'
import { admissionPath } from '../fixtures/policies.ts'
import { webhookCertificate } from '../fixtures/webhook-certificate.ts'
import { type AttackCluster, startAttackCluster, webhookAddress } from './attack-cluster.ts'
import { createFixtures } from './fixtures.ts'
import { dave } from './identities.ts'
import type { ApiRequest, Reply } from './impersonation.ts'

const options = { name: 'secrets-cluster' } as const
const address = webhookAddress(options)
const canary = 'c4nary-postgres-hunter2'
/**
 * In requests that the API server cannot parse, before any admission: it repeats them to their sender (docs/guide/secrets.md).
 */
const mistaken = 'm1staken-postgres-hunter2'
const path = '/apis/apps.sekisho.dev/v1alpha1/namespaces/acme/appsecrets'
const key = await openingKeyOf(await makeOpeningKey(new Date()))
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'
let cluster: AttackCluster
let webhook: DrainedServer | undefined
let findSealer: FindSealer
const replies: Reply[] = []

async function send(call: ApiRequest): Promise<Reply> {
  const reply = await cluster.send(dave, call)
  replies.push(reply)
  return reply
}

type Stored = {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>>; readonly generation?: number }
  readonly spec: { readonly values?: unknown; readonly sealed?: Readonly<Record<string, string>> }
}
const bodyOf = ({ body }: Reply): Stored => body as Stored
const appSecret = (name: string, spec: unknown, metadata: object = {}) => ({
  apiVersion: 'apps.sekisho.dev/v1alpha1',
  kind: 'AppSecret',
  metadata: { name, ...metadata },
  spec,
})
const opened = async (reply: Reply, name: string, field: string): Promise<string | undefined> =>
  (await key.open(bodyOf(reply).spec.sealed?.[field] ?? '', { namespace: 'acme', name, key: field }))?.reveal()
const get = (name: string) => send({ method: 'GET', path: `${path}/${name}` })
const post = (object: object, query = '') => send({ method: 'POST', path: `${path}${query}`, body: object })
const apply = (name: string, spec: unknown, query = '') =>
  send({
    method: 'PATCH',
    path: `${path}/${name}?fieldManager=kubectl&force=true${query}`,
    body: appSecret(name, spec),
    type: 'application/apply-patch+yaml',
  })
const merge = (name: string, patch: object, query = '') => send({ method: 'PATCH', path: `${path}/${name}${query}`, body: patch })
const jsonPatch = (name: string, operations: readonly object[]) =>
  send({ method: 'PATCH', path: `${path}/${name}`, body: operations, type: 'application/json-patch+json' })

/** As kubectl apply does it on the client's side. */
const clientSideApply = (name: string, spec: unknown) => {
  const applied = `${JSON.stringify(appSecret(name, spec))}\n`
  return appSecret(name, spec, { annotations: { [lastApplied]: applied } })
}

async function startWebhook(): Promise<void> {
  const { authorityPem, pair } = certificate
  const { clientAuthorities } = cluster
  webhook = createAdmissionApp({
    clock: systemClock,
    log: silentLog,
    address,
    certificate: createCertificate({ ...pair, clientAuthorities }),
    clientNames: ['kube-apiserver'],
    findSealer: () => findSealer(),
  })
  await webhook.start()
  const target = { kind: 'url', origin: `https://${address.host}:${address.port}`, authorityPem } as const
  for (const manifest of registrations(target))
    await cluster.admin.apply(
      `/apis/admissionregistration.k8s.io/v1/${manifest.kind.toLowerCase()}s/${manifest.metadata.name}`,
      manifest,
    )
}

const certificate = await webhookCertificate()

beforeAll(async () => {
  const sealer = await sealerOf(key.publicKey)
  findSealer = async () => sealer
  cluster = await startAttackCluster(options)
  await createFixtures(cluster)
})
afterAll(async () => {
  await webhook?.stop()
  await cluster?.stop()
})

describe('without our webhook', () => {
  test.each([
    ['a value', { values: { A: canary } }, /spec: Too many/],
    ['no object as values', { values: canary }, /spec: Too many/],
    ['a field that nobody knows', { vlaues: { A: canary } }, /spec: Too many/],
    ['a value where sealed ones belong', { sealed: { A: canary } }, /not encrypted/],
    ['another thing where sealed ones belong', { sealed: { A: [mistaken] } }, /spec\.sealed\.A/],
    ['a long one where sealed ones belong', { sealed: { A: canary.repeat(10_000) } }, /spec\.sealed\.A/],
    ['a name that is none', { sealed: { 'a b': 'eyJ' } }, /every name must be/],
    ['a name of the platform', { sealed: { PORT: 'eyJ' } }, /every name must be/],
    ['a spec that is none', canary, /spec/],
  ])('%s is refused and not repeated', async (_what, spec, says) => {
    const reply = await post(appSecret('x', spec))
    expect([reply.status, reply.message]).toEqual([422, expect.stringMatching(says)])
  })

  test('values that together are too large are refused', async () => {
    const sealed = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`K${index}`, `eyJ${'x'.repeat(40_000)}`]))
    expect(await post(appSecret('x', { sealed }))).toMatchObject({ status: 422, message: expect.stringContaining('128 KiB') })
  })
})

describe('with it', () => {
  beforeAll(async () => {
    await startWebhook()
    const files = policyFiles()
    for (const manifest of files.get('app-secret-copies.yaml') ?? expect.fail())
      await cluster.admin.apply(admissionPath(manifest), manifest)
    await waitUntil('values are sealed', async () => {
      const reply = await post(appSecret('probe', { values: { A: canary } }), '?dryRun=All')
      return reply.status === 201
    })
    const copied = appSecret('probe', {}, { annotations: { other: `{"spec":{"values": {"A":"${'x'}"}}}` } })
    await waitUntil('copies are refused', async () => (await post(copied, '?dryRun=All')).status === 403)
  })

  test('a value that is created is sealed for its place', async () => {
    const made = await post(appSecret('created', { values: { DATABASE_URL: canary, EMPTY: '' } }))
    expect(made.status).toBe(201)
    expect(bodyOf(made).spec.values).toBeUndefined()
    expect(await opened(made, 'created', 'DATABASE_URL')).toBe(canary)
    expect(await opened(made, 'created', 'EMPTY')).toBe('')
    expect(await opened(made, 'other', 'DATABASE_URL')).toBeUndefined()
    const stored = await get('created')
    expect(bodyOf(stored).spec).toEqual(bodyOf(made).spec)
  })

  test('setting merges, by every kind of patch, and null removes', async () => {
    await apply('merged', { values: { A: `${canary}-1`, B: canary } })
    expect(bodyOf(await apply('merged', { values: { A: `${canary}-2` } })).spec.values).toBeUndefined()
    await merge('merged', { spec: { values: { C: canary } } })
    await jsonPatch('merged', [{ op: 'add', path: '/spec/values', value: { D: canary } }])
    const all = await get('merged')
    expect(Object.keys(bodyOf(all).spec.sealed ?? {}).sort()).toEqual(['A', 'B', 'C', 'D'])
    expect(await opened(all, 'merged', 'A')).toBe(`${canary}-2`)
    expect(await opened(all, 'merged', 'D')).toBe(canary)
    const removed = await merge('merged', { spec: { sealed: { B: null } } })
    expect([removed.status, Object.keys(bodyOf(removed).spec.sealed ?? {}).sort()]).toEqual([200, ['A', 'C', 'D']])
  })

  test('kubectl apply on the client’s side leaves no copy, and its next apply sends the values again', async () => {
    const made = await post(clientSideApply('client-side', { values: { A: canary } }))
    expect(made.status).toBe(201)
    const copy = JSON.parse(bodyOf(made).metadata.annotations?.[lastApplied] ?? '')
    expect(copy).toMatchObject({ kind: 'AppSecret', metadata: { name: 'client-side' }, spec: {} })
    const { metadata, spec } = clientSideApply('client-side', { values: { A: `${canary}-2` } })
    const patched = await merge('client-side', { metadata, spec })
    expect([patched.status, await opened(patched, 'client-side', 'A')]).toEqual([200, `${canary}-2`])
    const broken = await merge('client-side', {
      metadata: { annotations: { [lastApplied]: `not a file "values": {"A":"${canary}"}` } },
    })
    expect([broken.status, bodyOf(broken).metadata.annotations?.[lastApplied]]).toEqual([200, undefined])
  })

  test('kubectl itself: apply on either side, apply with null, and diff, as docs/guide/secrets.md says', async () => {
    const progress = { note: () => {}, step: <T>(_name: string, work: () => Promise<T>) => work() }
    const kubernetes = await ensureBinary(catalog.kubernetes, { settings: readClusterSettings(), progress })
    const folder = await mkdtemp(join(tmpdir(), 'app-secrets-'))
    const file = join(folder, 'secret.json')
    const outputs: string[] = []
    const kubectl = async (spec: object, ...args: readonly string[]): Promise<void> => {
      await writeFile(file, JSON.stringify(appSecret('by-kubectl', spec)))
      const run = promisify(execFile)(kubernetes.path('kubectl'), [...args, '-n', 'acme', '-f', file], {
        env: { KUBECONFIG: cluster.kubeconfig, HOME: folder, PATH: process.env['PATH'] },
      })
      // A difference is exit code 1.
      const { stdout, stderr } = await run.catch((error: { readonly stdout: string; readonly stderr: string }) => error)
      outputs.push(stdout, stderr)
    }
    const keys = async () => Object.keys(bodyOf(await get('by-kubectl')).spec.sealed ?? {}).sort()
    await kubectl({ values: { A: canary } }, 'apply')
    await kubectl({ values: { B: canary } }, 'apply')
    expect(await keys()).toEqual(['A', 'B'])
    await kubectl({ values: { B: canary } }, 'diff')
    await kubectl({ values: { B: canary }, sealed: { A: null } }, 'apply')
    expect(await keys()).toEqual(['B'])
    // The first server-side apply takes over what `kubectl apply` wrote before, and removes what is not in the file.
    await kubectl({ values: { C: canary } }, 'apply', '--server-side', '--force-conflicts')
    expect(await keys()).toEqual(['C'])
    await kubectl({ values: { D: canary } }, 'apply', '--server-side', '--force-conflicts')
    expect(await keys()).toEqual(['C', 'D'])
    expect(await opened(await get('by-kubectl'), 'by-kubectl', 'C')).toBe(canary)
    expect(outputs.join('\n')).toContain('appsecret.apps.sekisho.dev/by-kubectl configured')
    expect(outputs.filter(text => text.includes(canary))).toEqual([])
    await rm(folder, { recursive: true })
  })

  test('a copy in another annotation is refused', async () => {
    const copy = JSON.stringify(appSecret('copied', { values: { A: canary } }))
    const refused = await post(appSecret('copied', { values: { A: canary } }, { annotations: { 'kapp.k14s.io/original': copy } }))
    expect([refused.status, refused.message]).toEqual([403, expect.stringContaining('in plain text, so nothing was stored')])
    expect((await get('copied')).status).toBe(404)
  })

  test.each([
    ['a number', { values: { PIN: 1234 } }, 'spec.values.PIN must be a text: put it in quotes'],
    ['a null', { values: { A: null } }, 'set spec.sealed.A to null'],
    ['nothing', { values: {} }, 'spec.values is empty'],
    ['a text', { values: canary }, 'spec.values must be an object'],
    ['a list', { values: [canary] }, 'spec.values must be an object'],
    ['a field that nobody knows', { vlaues: { A: canary } }, 'a field that an AppSecret does not have'],
    ['a nested object', { values: { A: { B: canary } } }, 'spec.values.A must be a text'],
    [
      'a name that holds the value',
      { values: { [`A=${canary}`]: '' } },
      'name 1 in spec.values must be the name of an environment',
    ],
    ['a name of the platform', { values: { SEKISHO_COMMIT: canary } }, 'a name that the platform sets itself'],
    ['a value above the bound', { values: { A: canary.repeat(2000) } }, 'spec.values.A is larger than 32 KiB'],
    ['too many', { values: Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`K${i}`, canary])) }, 'more than 100'],
  ])('%s instead of values is refused with a sentence', async (_what, spec, says) => {
    const reply = await post(appSecret('refused', spec))
    expect([reply.status, reply.message]).toEqual([403, expect.stringContaining(says)])
    expect(await apply('refused', spec)).toMatchObject({ status: 403, message: reply.message })
    expect((await merge('created', { spec }, '?fieldValidation=Strict')).status).toBe(403)
  })

  test('what is no object at all the API server repeats to its sender and in its logs, and keeps nowhere else', async () => {
    const unparsed = [await apply('mistaken', mistaken), await apply('mistaken', { sealed: { A: [mistaken] } })]
    expect(unparsed.map(({ status, message }) => [status >= 400, message.includes(mistaken)])).toEqual(
      unparsed.map(() => [true, true]),
    )
  })

  test('the largest AppSecret is stored', async () => {
    const values = Object.fromEntries(
      Array.from({ length: 100 }, (_, index) => [`KEY_${index}`.padEnd(128, 'X'), 'ü'.repeat(655)]),
    )
    const made = await post(appSecret('x'.repeat(63), { values }))
    expect([made.status, made.message]).toEqual([201, ''])
    const long = await post(appSecret('long', { values: { A: 'y'.repeat(32 * 1024), B: 'z'.repeat(32 * 1024) } }))
    expect(long.status).toBe(201)
  })

  test('dry runs and answers to mistakes show sealed text only', async () => {
    await apply('dry', { values: { A: canary } }, '&dryRun=All')
    await merge('created', { spec: { values: { DATABASE_URL: `${canary}-dry` } } }, '?dryRun=All')
    await send({ method: 'DELETE', path: `${path}/created?dryRun=All&propagationPolicy=Foreground` })
    await send({ method: 'DELETE', path: `${path}?dryRun=All` })
    await jsonPatch('created', [{ op: 'copy', from: '/spec/sealed/DATABASE_URL', path: '/metadata/annotations' }])
    await jsonPatch('created', [{ op: 'copy', from: '/spec/sealed', path: '/metadata/labels' }])
    await jsonPatch('created', [{ op: 'test', path: '/spec/sealed/DATABASE_URL', value: canary }])
    await send({ method: 'POST', path, body: { ...appSecret('x', { values: { A: canary } }), metadata: { generateName: 'x-' } } })
    await send({ method: 'PUT', path: `${path}/created`, body: appSecret('created', { values: { A: canary } }) })
    await merge('created/status', { status: { keys: [{ name: mistaken, version: 'x' }] } })
    const made = await send({ method: 'GET', path: `${path}/created` })
    expect(await opened(made, 'created', 'DATABASE_URL')).toBe(canary)
  })

  test('sealed text that is moved opens nowhere else', async () => {
    const moved = await jsonPatch('created', [{ op: 'copy', from: '/spec/sealed/DATABASE_URL', path: '/spec/sealed/MOVED' }])
    expect(moved.status).toBe(200)
    expect(await opened(moved, 'created', 'MOVED')).toBeUndefined()
    // What a person sends as a value is a value, whatever it looks like.
    const again = await jsonPatch('created', [{ op: 'copy', from: '/spec/sealed', path: '/spec/values' }])
    expect(await opened(again, 'created', 'DATABASE_URL')).toMatch(/^eyJ/)
  })

  test('until the platform has its key, and while the webhook is down, values are refused and other writes go on', async () => {
    const earlier = findSealer
    findSealer = async () => undefined
    expect(await post(appSecret('later', { values: { A: canary } }))).toMatchObject({
      status: 403,
      message: expect.stringContaining('has not got its key for AppSecrets yet'),
    })
    findSealer = earlier
    await webhook?.stop()
    const down = await post(appSecret('later', { values: { A: canary } }))
    expect([down.status, down.message]).toEqual([500, expect.stringContaining('app-secrets.admission.sekisho.dev')])
    expect((await merge('merged', { spec: { sealed: { A: null } } })).status).toBe(200)
    expect((await get('later')).status).toBe(404)
  })

  test('no answer, no stored object and no log of the API server contains a value', async () => {
    const stored = await cluster.admin.call('GET', path)
    expect(JSON.stringify(stored)).not.toContain(canary)
    const shown = replies.filter(({ message, body }) => `${message} ${JSON.stringify(body)}`.includes(canary))
    expect(shown.map(({ status, message }) => `${status} ${message}`)).toEqual([])
    const logs = join(readClusterSettings().stateFolder, options.name, 'logs')
    const files = await readdir(logs)
    expect(files).toContain('audit.log')
    for (const file of files) {
      const lines = (await readFile(join(logs, file), 'utf8')).split('\n')
      expect([file, lines.filter(line => line.includes(canary))]).toEqual([file, []])
    }
  })
})
