// Admission on a real API server, which shows its client certificate, for the accounts of both forms: with the policies alone,
// the webhook alone, both, and the webhook down, all alike on every row. Then what only the webhook does: filling in requestedBy.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAdmissionApp } from '../../src/admission/app.ts'
import { type Manifest, policyFiles } from '../../src/admission/policies.ts'
import { registrations } from '../../src/admission/registrations.ts'
import { ownRules } from '../../src/admission/rules/index.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { silentLog } from '../../src/lib/testing/silent-log.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { createCertificate } from '../../src/web/tls.ts'
import { isLong } from '../fixtures/form.ts'
import { inTurn } from '../fixtures/in-turn.ts'
import { admissionPath } from '../fixtures/policies.ts'
import { clientAuthority, webhookCertificate } from '../fixtures/webhook-certificate.ts'
import { type AttackCluster, attackCluster, startAttackCluster, webhookAddress } from './attack-cluster.ts'
import { createFixtures } from './fixtures.ts'
import { clusterAdministrator, controllers, dave, everything, mia } from './identities.ts'
import type { Reply } from './impersonation.ts'
import { matrix } from './matrix.ts'
import { firstUser, followers, repositoryGrant } from './objects.ts'
import { patient } from './patient-webhooks.ts'
import { builtImageRows } from './rows/built-image-rows.ts'
import { ownRows } from './rows/own-rows.ts'
import { podDeletionRows } from './rows/pod-end-rows.ts'
import type { Row } from './rows/row.ts'
import { runtimeClassRows } from './rows/runtime-class-rows.ts'
import { proxyRows, recountedProxyRows, restoredProxyRows } from './rows/service-proxy-rows.ts'
import { attachRefusals, ownTaskPod } from './rows/task-rows.ts'
import { userRows } from './rows/user-rows.ts'

const { authorityPem, pair } = await webhookCertificate()
const address = webhookAddress(attackCluster)
const target = { kind: 'url', origin: `https://${address.host}:${address.port}`, authorityPem } as const
let cluster: AttackCluster
let webhook: ReturnType<typeof createAdmissionApp> | undefined

beforeAll(async () => {
  cluster = await startAttackCluster(attackCluster)
  await createFixtures(cluster)
})
afterAll(async () => {
  await webhook?.stop()
  await cluster?.stop()
})

const isOwn = (file: string): boolean => ownRules.some(({ name }) => file === `${name}.yaml`)
const filesOf = (wantedFile: (file: string) => boolean): readonly Manifest[] =>
  [...policyFiles()].filter(([file]) => wantedFile(file)).flatMap(([, manifests]) => manifests)
const [policies, ownPolicies] = [filesOf(file => !isOwn(file)), filesOf(isOwn)]
const [validating, mutating] = registrations(target)
if (!validating || !mutating) throw new Error('a registration is missing')
const isRefused = (row: Row): boolean => row.expected !== 'allowed'
/** One row for each rule: refused while the rule is in force. */
const oneOfEach = (rows: readonly Row[]) => [...new Map(rows.filter(isRefused).map(row => [row.expected, row])).values()]
const canaries = oneOfEach(matrix)
/** And one row for each policy that is not a rule of the webhook. */
const policyCanaries = oneOfEach([...matrix, ...builtImageRows, ...userRows, ...runtimeClassRows, ...proxyRows])

const install = (manifest: Manifest) => cluster.admin.apply(admissionPath(manifest), manifest)
const uninstall = (manifest: Manifest) => cluster.admin.call('DELETE', admissionPath(manifest))

const attempt = (row: Row): Promise<Reply> => {
  const path = `${row.path}${row.path.includes('?') ? '&' : '?'}dryRun=All`
  return cluster.send(row.as, { ...row, path })
}

/** The first id of the range of the fixtures’ tenant. */
const first = Number(firstUser['sekisho.dev/first-user'])
/** Allowed only once ids are moved, while the policy holds. */
const ordinaryUsers = userRows.filter(row => row.expected === 'allowed')

type Outcome = 'allowed' | 'refused' | string

const outcome = ({ status, message }: Reply): Outcome => {
  if (status < 300) return 'allowed'
  const byAdmission = message.includes('ValidatingAdmissionPolicy') || message.includes('admission webhook')
  return status === 403 && byAdmission ? 'refused' : `${status}: ${message}`
}
const wanted = (row: Row): Outcome => (row.expected === 'allowed' ? 'allowed' : 'refused')

const untilAll = (what: string, rows: readonly Row[], expected: Outcome): Promise<unknown> =>
  waitUntil(what, async () => {
    const replies = await Promise.all(rows.map(attempt))
    return replies.every(reply => outcome(reply) === expected)
  })

const sideBySide = 16
type Replies = readonly { readonly row: Row; readonly reply: Reply }[]

/** Dry runs change nothing, so that rows are independent of each other: some are sent side by side. */
async function run(matrix: readonly Row[]): Promise<Replies> {
  const replies: { readonly row: Row; readonly reply: Reply }[] = []
  for (let index = 0; index < matrix.length; index += sideBySide) {
    const rows = matrix.slice(index, index + sideBySide)
    replies.push(...(await Promise.all(rows.map(async row => ({ row, reply: await attempt(row) })))))
  }
  return replies
}

const unnamed = (replies: Replies): readonly string[] =>
  replies
    .filter(({ row }) => isRefused(row))
    .filter(({ row, reply }) => ![row.expected, ...row.also].some(rule => reply.message.includes(`sekisho-${rule}'`)))
    .map(({ row, reply }) => `${row.name}: ${reply.message}`)

const refusedOf = (replies: Replies): readonly string[] =>
  replies
    .filter(({ reply }) => outcome(reply) !== 'allowed')
    .map(({ row, reply }) => `${row.name}: ${reply.status} ${reply.message}`)

const wrong = (replies: Replies): readonly string[] =>
  replies
    .filter(({ row, reply }) => outcome(reply) !== wanted(row))
    .map(({ row, reply }) => `${row.name}: wanted ${wanted(row)}, got ${outcome(reply)}`)

async function startWebhook(clientAuthorities = cluster.clientAuthorities): Promise<void> {
  const certificate = createCertificate({ ...pair, clientAuthorities })
  const clientNames = ['kube-apiserver']
  webhook = createAdmissionApp({ clock: systemClock, log: silentLog, address, certificate, clientNames })
  await webhook.start()
}

async function stopWebhook(): Promise<void> {
  await webhook?.stop()
  webhook = undefined
}

describe('our own identities', () => {
  test('may do nothing but what their lists of rights name, where they name it; every refusal comes from these policies', async () => {
    const refusals = ownRows.filter(isRefused)
    const signs = refusals.slice(-1).concat(refusals.slice(0, 1))
    expect(refusedOf(await run(ownRows))).toEqual([])
    for (const manifest of ownPolicies) await install(manifest)
    await untilAll('own policies in force', signs, 'refused')
    const replies = await run(ownRows)
    expect(wrong(replies)).toEqual([])
    expect(unnamed(replies)).toEqual([])
    const exec = await cluster.as(
      { user: 'system:serviceaccount:sekisho-system:sekisho-controllers', groups: [everything] },
      'POST',
      '/api/v1/namespaces/acme/pods/runner/exec?command=id&stdout=true',
    )
    expect([exec.status, exec.message]).toEqual([403, expect.stringContaining("'sekisho-own-writes'")])
    for (const manifest of ownPolicies) await uninstall(manifest)
    await untilAll('own policies gone', signs, 'allowed')
  })
})

describe('the matrix', () => {
  /** What each of the two does alone they do together: shown for whole rows by the long form. */
  const together = test.skipIf(!isLong('matrix'))
  const policiesInForce = () =>
    waitUntil('policies in force', async () => {
      const replies = await Promise.all(policyCanaries.map(attempt))
      const moved = await Promise.all(ordinaryUsers.map(attempt))
      const refusing = replies.every(({ message }) => message.includes('ValidatingAdmissionPolicy'))
      return refusing && moved.every(reply => outcome(reply) === 'allowed') ? true : undefined
    })

  test('every request is allowed without policies and webhook, so that they cause every refusal below', async () => {
    expect(refusedOf(await run(inTurn('matrix', 'rows without policies', matrix, Math.ceil(matrix.length / 4))))).toEqual([])
  })

  test('every row has the expected outcome with the policies alone, and each refusal names its rule', async () => {
    for (const manifest of policies) await install(manifest)
    await policiesInForce()
    const replies = await run(matrix)
    expect(wrong(replies)).toEqual([])
    expect(unnamed(replies)).toEqual([])
    for (const manifest of policies) await uninstall(manifest)
    await untilAll('policies gone', policyCanaries, 'allowed')
  })

  beforeAll(() => startWebhook())

  test('every row has the expected outcome with the webhook alone', async () => {
    await install(patient(validating))
    await untilAll('webhook in force', canaries, 'refused')
    expect(wrong(await run(matrix))).toEqual([])
  })

  together('every row has the expected outcome with both', async () => {
    await install(patient(validating))
    await untilAll('webhook in force', canaries, 'refused')
    for (const manifest of policies) await install(manifest)
    await policiesInForce()
    expect(wrong(await run(matrix))).toEqual([])
  })

  test('while the webhook is down, what is allowed goes on and what is refused stays refused', async () => {
    for (const manifest of [validating, ...policies]) await install(manifest)
    await policiesInForce()
    // Before, it would fill in what is refused without it.
    await install(mutating)
    await stopWebhook()
    await waitUntil('requests to be filled in are sent', async () => {
      const reply = await cluster.as(dave, 'POST', `${grants}?dryRun=All`, repositoryGrant('x'))
      return isUnfilled(reply) ? true : undefined
    })
    const filled = matrix.filter(({ expected }) => expected === 'requested-by')
    const others = matrix.filter(row => !filled.includes(row))
    const replies = await run([...filled, ...inTurn('matrix', 'rows without webhook', others, Math.ceil(others.length / 3))])
    // Where a name would have to be filled in, the request is refused one step earlier.
    const unfilled = replies.filter(({ reply }) => isUnfilled(reply))
    expect(new Set(unfilled.map(({ row }) => row.expected))).toEqual(new Set(['requested-by']))
    expect(wrong(replies.filter(({ reply }) => !isUnfilled(reply)))).toEqual([])
    for (const manifest of [...policies, validating, mutating]) await uninstall(manifest)
    await untilAll('policies and webhook gone', policyCanaries, 'allowed')
  })
})

describe('the image of an Application that a RemoteSync builds', () => {
  const ours = policies.filter(({ metadata }) => metadata.name === 'sekisho-built-images')
  const refusals = builtImageRows.filter(isRefused)
  const synced = '/apis/apps.sekisho.dev/v1alpha1/namespaces/acme/applications/synced'

  test('is changed by nobody but the platform, until the RemoteSync is suspended or being deleted; the refusal names the ways', async () => {
    expect(ours.map(({ kind }) => kind)).toHaveLength(2)
    expect(refusedOf(await run(builtImageRows))).toEqual([])
    for (const manifest of ours) await install(manifest)
    await untilAll('the policy in force', refusals, 'refused')
    const replies = await run(builtImageRows)
    expect(wrong(replies)).toEqual([])
    expect(unnamed(replies)).toEqual([])
    const set = { spec: { image: 'registry.test/own', commit: null } }
    const setImage = (): Promise<Reply> => cluster.as(dave, 'PATCH', `${synced}?dryRun=All`, set)
    const { message } = await setImage()
    for (const way of [
      'RemoteSync of-synced builds the image of Application synced',
      '`sekisho rollback synced` (spec.pinnedRelease)',
      `\`kubectl patch remotesync of-synced --type merge -p '{"spec":{"suspend":true}}'\``,
      'or delete it',
    ])
      expect(message).toContain(way)
    const sync = '/apis/apps.sekisho.dev/v1alpha1/namespaces/acme/remotesyncs/of-synced'
    await cluster.admin.call('PATCH', sync, { spec: { suspend: true } }, 'application/merge-patch+json')
    await waitUntil('open', async () => outcome(await setImage()) === 'allowed')
    for (const manifest of ours) await uninstall(manifest)
    await untilAll('the policy gone', refusals, 'allowed')
  })
})

/** What the API server makes of the pod of a person in the namespace. */
async function createdPod(namespace: string, spec: object, labels: object = {}): Promise<unknown> {
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'created', labels }, spec }
  return cluster.admin.call('POST', `/api/v1/namespaces/${namespace}/pods?dryRun=All`, pod)
}

describe.each([
  { name: 'sekisho-pod-users', rows: userRows, changes: movedUsers },
  { name: 'sekisho-pod-runtime-class', rows: runtimeClassRows, changes: addedClasses },
  {
    name: 'sekisho-service-proxy',
    rows: [...proxyRows, ...restoredProxyRows, ...recountedProxyRows],
    changes: labelledServices,
  },
])('$name, which changes some objects and refuses others', ({ name, rows, changes }) => {
  const ours = policies.filter(({ metadata }) => metadata.name === name)
  const [refusals, ordinary] = [rows.filter(isRefused), rows.filter(row => row.expected === 'allowed')]

  test('is the cause of every refusal, and what it changes passes', async () => {
    expect(ours.map(({ kind }) => kind)).toHaveLength(4)
    expect(refusedOf(await run(rows))).toEqual([])
    for (const manifest of ours) await install(manifest)
    await untilAll('the policy in force', refusals, 'refused')
    await untilAll('objects are changed', ordinary, 'allowed')
    const replies = await run(rows)
    expect(wrong(replies)).toEqual([])
    expect(unnamed(replies)).toEqual([])
    await changes()
    for (const manifest of ours) await uninstall(manifest)
    await untilAll('the policy gone', refusals, 'allowed')
  })
})

/** Ids of images are moved into the range of the tenant. */
async function movedUsers(): Promise<void> {
  const container = { name: 'main', image: 'registry.test/x' }
  const other = { ...container, name: 'other', securityContext: { runAsUser: 999 } }
  const named = { containers: [container, other], initContainers: [{ ...other, name: 'init' }] }
  expect(
    await createdPod('acme', { ...named, securityContext: { runAsUser: 1000, runAsGroup: 1000, fsGroup: 2000 } }),
  ).toMatchObject({
    spec: {
      securityContext: { runAsUser: first + 1000, runAsGroup: 1000, fsGroup: first + 2000 },
      containers: [{ name: 'main' }, { name: 'other', securityContext: { runAsUser: first + 999 } }],
      initContainers: [{ securityContext: { runAsUser: first + 999 } }],
    },
  })
  expect(await createdPod('acme', { containers: [container] })).toMatchObject({
    spec: { securityContext: { runAsUser: first + 1001 } },
  })
}

/** The class of the namespace is set, and Kubernetes adds what belongs to it. */
async function addedClasses(): Promise<void> {
  const spec = { containers: [{ name: 'main', image: 'registry.test/x' }] }
  expect(await createdPod('classed', spec)).toMatchObject({
    spec: {
      runtimeClassName: 'kata',
      overhead: { memory: '64Mi' },
      nodeSelector: { kata: 'yes' },
      tolerations: expect.arrayContaining([{ key: 'kata', operator: 'Exists', effect: 'NoSchedule' }]),
    },
  })
  const isolated = { 'sekisho.dev/isolated': 'true' }
  expect(await createdPod('classed', spec, isolated)).toMatchObject({ spec: { runtimeClassName: 'gvisor' } })
  expect(await createdPod('half-classed', spec, isolated)).toMatchObject({ spec: { runtimeClassName: 'gvisor' } })
  const namesNone = { spec: expect.not.objectContaining({ runtimeClassName: expect.anything() }) }
  for (const namespace of ['half-classed', 'acme', 'other']) expect(await createdPod(namespace, spec)).toMatchObject(namesNone)
}

/**
 * New Services, and those of which something that counts has changed, have the label of such; it is put back where a request
 * leaves it out.
 */
async function labelledServices(): Promise<void> {
  const services = '/api/v1/namespaces/acme/services'
  const merge = 'application/merge-patch+json'
  type Service = { readonly metadata: { readonly labels?: Record<string, string>; readonly resourceVersion: string } }
  const proxyOf = (answer: unknown): unknown =>
    (answer as Service).metadata.labels?.['service.kubernetes.io/service-proxy-name'] ?? 'none'
  const made = async (spec: object, labels?: object, namespace = 'acme'): Promise<unknown> => {
    const object = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'made', labels },
      spec: { ports: [{ port: 80 }], ...spec },
    }
    return proxyOf(await cluster.admin.call('POST', `/api/v1/namespaces/${namespace}/services?dryRun=All`, object))
  }
  const selector = { app: 'x' }
  expect(await made({ selector })).toBe('sekisho.dev-uncounted')
  expect(await made({ selector }, { a: 'b' })).toBe('sekisho.dev-uncounted')
  expect(await made({ selector, clusterIP: 'None' })).toBe('none')
  expect(await made({ type: 'ExternalName', externalName: 'example.com', selector })).toBe('none')
  expect(await made({})).toBe('none')
  expect(await made({ selector }, {}, 'other')).toBe('none')
  const version = ((await cluster.admin.call('GET', `${services}/unproxied`)) as Service).metadata.resourceVersion
  const valuesOf = async (rows: readonly Row[]) => new Set((await run(rows)).map(({ reply: { body } }) => proxyOf(body)))
  expect(await valuesOf(restoredProxyRows)).toEqual(new Set(['sekisho.dev-too-many-endpoints']))
  expect(
    proxyOf(await cluster.admin.call('PATCH', `${services}/elsewhere?dryRun=All`, { spec: { selector: { app: 'y' } } }, merge)),
  ).toBe('other')
  expect(await valuesOf(recountedProxyRows)).toEqual(new Set([`sekisho.dev-uncounted-${version}`]))
}

describe('the deletion of a pod', () => {
  const ours = policies.filter(({ metadata }) => metadata.name === 'sekisho-pod-deletion')
  const refusals = podDeletionRows.filter(isRefused)

  test('takes an hour at most, whoever asks for more, in every way of asking', async () => {
    expect(ours.map(({ kind }) => kind)).toHaveLength(2)
    expect(refusedOf(await run(podDeletionRows))).toEqual([])
    for (const manifest of ours) await install(manifest)
    await untilAll('the policy in force', refusals, 'refused')
    const replies = await run(podDeletionRows)
    expect(wrong(replies)).toEqual([])
    expect(unnamed(replies)).toEqual([])
    for (const manifest of ours) await uninstall(manifest)
    await untilAll('the policy gone', refusals, 'allowed')
  })
})

describe('commands in pods', () => {
  const exec = (as = dave, namespace = 'acme', kind = 'exec'): Promise<Reply> =>
    cluster.as(as, 'POST', `/api/v1/namespaces/${namespace}/pods/runner/${kind}?command=id&stdout=true`)
  const others = policies.filter(({ metadata }) => metadata.name === 'sekisho-pod-exec')
  const refusal = expect.stringContaining(
    'while RepositoryGrant of-deployer lets pods get GitHub tokens: use `sekisho run` or `sekisho shell`',
  )
  const closed = async (): Promise<void> => {
    await waitUntil('closed', async () => outcome(await exec()) === 'refused')
  }
  const opened = async (): Promise<void> => {
    // The pod is on no node.
    await waitUntil('open', async () => (await exec()).message.includes('does not have a host assigned'))
  }
  const status = (name: string, patch: object) =>
    cluster.admin.call('PATCH', `${grants}/${name}/status`, { status: patch }, 'application/merge-patch+json')

  beforeAll(async () => {
    for (const { metadata } of ((await cluster.admin.call('GET', grants)) as GrantList).items) {
      const path = `${grants}/${metadata.name}`
      await cluster.admin.call('PATCH', path, { metadata: { finalizers: null } }, 'application/merge-patch+json')
      await cluster.admin.request('DELETE', path)
    }
    for (const manifest of others) await install(manifest)
  })
  afterAll(async () => {
    for (const manifest of others) await uninstall(manifest)
  })

  test('are refused in a namespace while a grant there names a ServiceAccount, but not to platform admins, elsewhere, or afterwards', async () => {
    expect(others.map(({ kind }) => kind)).toHaveLength(2)
    const sync = repositoryGrant('of-sync', dave.user) as unknown as { readonly spec: object }
    const subjects = [{ kind: 'RemoteSync', name: 'shop' }]
    await cluster.admin.call('POST', grants, { ...sync, spec: { ...sync.spec, subjects } })
    await cluster.admin.call('POST', grants, repositoryGrant('of-deployer', dave.user))
    await closed()
    expect((await exec()).message).toEqual(refusal)
    for (const as of [controllers, mia]) expect(outcome(await exec(as))).toBe('refused')
    expect((await exec(clusterAdministrator)).message).toContain('does not have a host assigned')
    expect((await exec(dave, 'acme-build')).status).toBe(404)
    await status('of-deployer', { decision: 'Denied' })
    await opened()
    await status('of-deployer', { decision: 'Approved' })
    await closed()
    const ready = { type: 'Ready', status: 'False', reason: 'Expired', message: 'x', lastTransitionTime: '2026-01-01T00:00:00Z' }
    await status('of-deployer', { conditions: [{ ...ready, observedGeneration: 1 }] })
    await opened()
    await status('of-deployer', { conditions: [] })
    await closed()
    await cluster.admin.call('DELETE', `${grants}/of-deployer`)
    await opened()
  })
})

describe('attaching to pods', () => {
  const ours = policies.filter(({ metadata }) => metadata.name === 'sekisho-pod-attach')
  const attach = (as: typeof dave, pod: string, method = 'POST'): Promise<Reply> =>
    cluster.as(as, method, `/api/v1/namespaces/acme/pods/${pod}/attach?stdout=true`)
  const holds = async (): Promise<void> => {
    await waitUntil('attach refused', async () => outcome(await attach(dave, 'runner')) === 'refused')
    for (const [what, as, pod] of attachRefusals)
      for (const method of ['POST', 'GET']) expect(outcome(await attach(as, pod, method)), what).toBe('refused')
    expect((await attach(dave, ownTaskPod)).status).toBe(404)
    expect((await attach(clusterAdministrator, 'runner')).message).toContain('does not have a host assigned')
  }
  test('is for those of one’s own commands, by the policy alone, and by the webhook alone', async () => {
    for (const manifest of ours) await install(manifest)
    await holds()
    for (const manifest of ours) await uninstall(manifest)
    await waitUntil('attach open', async () => outcome(await attach(dave, 'runner')) !== 'refused')
    await startWebhook()
    if (validating) await install(validating)
    await holds()
    if (validating) await uninstall(validating)
    await stopWebhook()
  })
})

type GrantList = { readonly items: readonly { readonly metadata: { readonly name: string } }[] }
const grants = '/apis/github.sekisho.dev/v1alpha1/namespaces/acme/repositorygrants'
const requester = ({ body }: Reply): unknown => (body as { spec?: { requestedBy?: unknown } }).spec?.requestedBy
const isUnfilled = ({ status, message }: Reply): boolean =>
  status === 500 && message.includes('failed calling webhook "requested-by.admission.sekisho.dev"')

describe('filling in requestedBy', () => {
  const create = (name?: string): Promise<Reply> =>
    cluster.as(dave, 'POST', `${grants}?dryRun=All`, repositoryGrant('filled', name))

  beforeAll(async () => {
    for (const manifest of [...policies, mutating]) await install(manifest)
    await startWebhook()
    await waitUntil('requestedBy filled in', async () => requester(await create()) === dave.user)
    await waitUntil('policies in force', async () => outcome(await create(mia.user)) === 'refused')
  })

  describe.each(followers)('of a $kind', ({ path, object, change, otherChange }) => {
    const applied = (as: typeof dave, spec: object = {}): Promise<Reply> =>
      cluster.send(as, {
        method: 'PATCH',
        path: `${path}/filled?fieldManager=kubectl&force=true`,
        body: object('filled', undefined, spec),
        type: 'application/apply-patch+yaml',
      })

    test('names the caller on create, and keeps the name when the same file is applied again', async () => {
      const first = await applied(dave)
      expect([first.status, requester(first)]).toEqual([201, dave.user])
      const generation = (reply: Reply): unknown => (reply.body as { metadata?: { generation?: unknown } }).metadata?.generation
      const again = await applied(dave)
      expect([again.status, requester(again), generation(again)]).toEqual([200, dave.user, generation(first)])
    })

    test('names the colleague who changes something', async () => {
      const changed = await applied(mia, change)
      expect([changed.status, requester(changed)]).toEqual([200, mia.user])
    })

    test('while the webhook is down, only a change whose requester must be filled in has to wait', async () => {
      await stopWebhook()
      expect(isUnfilled(await applied(dave, { ...change, ...otherChange }))).toBe(true)
      const wake = { metadata: { annotations: { 'sekisho.dev/wake': 'x' } } }
      // One after the other: two of them change the object, and who asked for the present one decides about the others.
      const writes = {
        'the same again by its requester': () => applied(mia, { ...change, requestedBy: mia.user }),
        'a change by its requester': () => cluster.as(mia, 'PATCH', `${path}/filled?dryRun=All`, { spec: otherChange }),
        'a change with a name': () => applied(dave, { ...change, requestedBy: dave.user }),
        'a wake by the controllers': () => cluster.as(controllers, 'PATCH', `${path}/filled?dryRun=All`, wake),
      }
      const outcomes: Record<string, Outcome> = {}
      for (const [name, write] of Object.entries(writes)) outcomes[name] = outcome(await write())
      expect(outcomes).toEqual(Object.fromEntries(Object.keys(writes).map(name => [name, 'allowed'])))
      await startWebhook()
    })
  })

  test('does not replace a name that a person wrote', async () => {
    expect(outcome(await create(mia.user))).toBe('refused')
  })

  test('while the webhook is down, writes that nobody has to fill in do not depend on it', async () => {
    await stopWebhook()
    expect(isUnfilled(await create())).toBe(true)
    expect(outcome(await create(dave.user))).toBe('allowed')
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x' } }
    for (const namespace of ['acme', 'other', 'kube-system', 'sekisho-system'])
      expect(
        (await cluster.as(clusterAdministrator, 'POST', `/api/v1/namespaces/${namespace}/secrets?dryRun=All`, secret)).status,
      ).toBe(201)
  })

  test('a webhook that does not know the API server’s certificate is down for it', async () => {
    const { pem } = await clientAuthority()
    await startWebhook(pem)
    expect(isUnfilled(await create())).toBe(true)
    await stopWebhook()
    await startWebhook()
    await waitUntil('requestedBy filled in', async () => requester(await create()) === dave.user)
  })
})

describe('who changed an Application', () => {
  const path = '/apis/apps.sekisho.dev/v1alpha1/namespaces/acme/applications'
  const application = (more: object = {}, annotations: object = {}) => ({
    apiVersion: 'apps.sekisho.dev/v1alpha1',
    kind: 'Application',
    metadata: { name: 'recorded', annotations },
    spec: { processes: [{ name: 'worker' }], ...more },
  })
  const says = ({ body }: Reply): unknown => {
    const { metadata } = body as { metadata?: { annotations?: Record<string, string>; generation?: number } }
    return [metadata?.generation, metadata?.annotations?.['sekisho.dev/changed-by']]
  }
  const patch = (as: typeof dave, body: object, subresource = '') =>
    cluster.as(as, 'PATCH', `${path}/recorded${subresource}`, body)
  const apply = (as: typeof dave, body: object) =>
    cluster.send(as, {
      method: 'PATCH',
      path: `${path}/recorded?fieldManager=kubectl&force=true`,
      body,
      type: 'application/apply-patch+yaml',
    })
  const claim = (text: string) => ({ 'sekisho.dev/changed-by': text })
  const read = () => cluster.as(dave, 'GET', `${path}/recorded`)
  /** As `kubectl replace` does it, with a file that has no annotations. */
  const replace = async (as: typeof dave, spec: object) => {
    const { body } = await read()
    const { resourceVersion } = (body as { metadata: { resourceVersion: string } }).metadata
    const object = application(spec)
    return cluster.as(as, 'PUT', `${path}/recorded`, { ...object, metadata: { name: 'recorded', resourceVersion } })
  }

  beforeAll(async () => {
    for (const manifest of [...policies, mutating]) await install(manifest)
    await stopWebhook()
    await startWebhook()
    await waitUntil('changes recorded', async () => {
      const [, text] = says(await cluster.as(dave, 'POST', `${path}?dryRun=All`, application())) as unknown[]
      return text === `1-1 ${dave.user}`
    })
  })
  afterAll(async () => {
    for (const manifest of [...policies, mutating]) await uninstall(manifest)
  })

  test('is whoever the API server authenticated, whatever they write, by every way of writing', async () => {
    expect(says(await apply(dave, application({}, claim(`1-1 ${mia.user}`))))).toEqual([1, `1-1 ${dave.user}`])
    expect(says(await apply(dave, application()))).toEqual([1, `1-1 ${dave.user}`])
    expect(says(await patch(mia, { spec: { releasesKept: 3 } }))).toEqual([2, `2-2 ${mia.user}`])
    expect(says(await patch(mia, { spec: { releasesKept: 4 }, metadata: { annotations: claim('x') } }))).toEqual([
      3,
      `2-3 ${mia.user}`,
    ])
    expect(says(await patch(dave, { metadata: { annotations: { a: 'b' }, labels: { a: 'b' } } }))).toEqual([3, `2-3 ${mia.user}`])
    expect(says(await patch(dave, { metadata: { annotations: { 'sekisho.dev/changed-by': null } } }))).toEqual([
      3,
      `2-3 ${mia.user}`,
    ])
    expect(says(await patch(dave, { metadata: { annotations: claim(`3-3 ${dave.user}`) } }))).toEqual([3, `2-3 ${mia.user}`])
    expect((await patch(dave, { spec: { replicas: 2 } }, '/scale')).status).toBe(200)
    expect(says(await read())).toEqual([4, `2-3 ${mia.user}`])
    expect(says(await replace(mia, { releasesKept: 5 }))).toEqual([5, `5-5 ${mia.user}`])
    expect(says(await replace(dave, { releasesKept: 5 }))).toEqual([5, `5-5 ${mia.user}`])
    expect(says(await patch(controllers, { spec: { releasesKept: 6 } }))).toEqual([6, `5-5 ${mia.user}`])
  })

  test('is not known for a change while the webhook is down, which is not refused; nobody can be named then but who asks', async () => {
    await stopWebhook()
    expect(says(await patch(dave, { spec: { releasesKept: 7 } }))).toEqual([7, `5-5 ${mia.user}`])
    for (const text of [`5-8 ${mia.user}`, `8-8 ${mia.user}`, `5-8 ${dave.user}`, `7-8 ${dave.user}`])
      expect(outcome(await patch(dave, { spec: { releasesKept: 8 }, metadata: { annotations: claim(text) } }))).toBe('refused')
    expect(outcome(await patch(dave, { metadata: { annotations: claim(`7-7 ${dave.user}`) } }))).toBe('refused')
    await startWebhook()
    expect(says(await patch(dave, { spec: { releasesKept: 9 } }))).toEqual([8, `8-8 ${dave.user}`])
  })
})
