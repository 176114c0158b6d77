// Admission on a real API server: with the policies alone, the webhook alone, and both; they must agree on every row. Then what only the webhook
// does: filling in requestedBy, and continuing to work while its certificate authority changes.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AdmissionApp, createAdmissionApp } from '../../src/admission/app.ts'
import { platformIdentities } from '../../src/admission/identities.ts'
import { type Manifest, policyFiles } from '../../src/admission/policies.ts'
import { registrations } from '../../src/admission/registrations.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { silentLog } from '../../src/lib/testing/silent-log.ts'
import { type AttackCluster, startAttackCluster } from './attack-cluster.ts'
import { eventually } from './eventually.ts'
import { createFixtures } from './fixtures.ts'
import { clusterAdministrator, dave, mia } from './identities.ts'
import type { Reply } from './impersonation.ts'
import { matrix } from './matrix.ts'
import { followers, installation, repositoryGrant } from './objects.ts'
import type { Row } from './rows/row.ts'

const identities = platformIdentities()
const registry = '/apis/admissionregistration.k8s.io/v1'
const address = { host: '127.0.0.1', port: 19_443 }
let cluster: AttackCluster
let webhook: AdmissionApp | undefined

beforeAll(async () => {
  cluster = await startAttackCluster()
  await createFixtures(cluster)
})
afterAll(async () => {
  await webhook?.stop()
  await cluster?.stop()
})

const pathOf = ({ kind, metadata }: Manifest): string => {
  const plural = kind === 'ValidatingAdmissionPolicy' ? 'validatingadmissionpolicies' : `${kind.toLowerCase()}s`
  return `${registry}/${plural}/${metadata.name}`
}
const policies = [...policyFiles(identities).values()].flat()
const [validating, mutating] = registrations({ kind: 'url', origin: `https://${address.host}:${address.port}` }, identities)

const install = (manifest: Manifest | undefined) => {
  if (!manifest) throw new Error('nothing to install')
  return cluster.admin.apply(pathOf(manifest), manifest)
}
const uninstall = (manifest: Manifest | undefined) => manifest && cluster.admin.call('DELETE', pathOf(manifest))

const attempt = (row: Row): Promise<Reply> => {
  const path = `${row.path}${row.path.includes('?') ? '&' : '?'}dryRun=All`
  return cluster.send(row.as, { ...row, path })
}

type Outcome = 'allowed' | 'refused' | string

const outcome = ({ status, message }: Reply): Outcome => {
  if (status < 300) return 'allowed'
  const byAdmission = message.includes('ValidatingAdmissionPolicy') || message.includes('admission webhook')
  return status === 403 && byAdmission ? 'refused' : `${status}: ${message}`
}
const wanted = (row: Row): Outcome => (row.expected === 'allowed' ? 'allowed' : 'refused')

/** One row for each rule: refused while the rule is in force. */
const canaries = [...new Map(matrix.filter(row => row.expected !== 'allowed').map(row => [row.expected, row])).values()]

const untilAll = (what: string, expected: Outcome): Promise<unknown> =>
  eventually(what, async () => {
    for (const row of canaries) if (outcome(await attempt(row)) !== expected) return undefined
    return true
  })

async function runMatrix(): Promise<readonly { readonly row: Row; readonly reply: Reply }[]> {
  const replies: { readonly row: Row; readonly reply: Reply }[] = []
  for (const row of matrix) replies.push({ row, reply: await attempt(row) })
  return replies
}

const wrong = (replies: readonly { readonly row: Row; readonly reply: Reply }[]): readonly string[] =>
  replies
    .filter(({ row, reply }) => outcome(reply) !== wanted(row))
    .map(({ row, reply }) => `${row.name}: wanted ${wanted(row)}, got ${outcome(reply)}`)

async function startWebhook(): Promise<void> {
  const { client } = cluster
  const deps = { client, clock: systemClock, log: silentLog, identities, address }
  webhook = createAdmissionApp({ ...deps, extraAddresses: [address.host], keepMilliseconds: 200 })
  await webhook.start()
}

describe('the matrix', () => {
  test('every request is allowed without policies and webhook, so that they cause every refusal below', async () => {
    expect(
      (await runMatrix())
        .filter(({ reply }) => outcome(reply) !== 'allowed')
        .map(({ row, reply }) => `${row.name}: ${reply.status} ${reply.message}`),
    ).toEqual([])
  })

  test('every row has the expected outcome with the policies alone, and each refusal names its rule', async () => {
    for (const manifest of policies) await install(manifest)
    await untilAll('policies in force', 'refused')
    const replies = await runMatrix()
    expect(wrong(replies)).toEqual([])
    const unnamed = replies.filter(
      ({ row, reply }) =>
        row.expected !== 'allowed' && ![row.expected, ...row.also].some(rule => reply.message.includes(`sekisho-${rule}'`)),
    )
    expect(unnamed.map(({ row, reply }) => `${row.name}: ${reply.message}`)).toEqual([])
    for (const manifest of policies) await uninstall(manifest)
    await untilAll('policies gone', 'allowed')
  })

  test('every row has the expected outcome with the webhook alone', async () => {
    await install(validating)
    await startWebhook()
    await untilAll('webhook in force', 'refused')
    expect(wrong(await runMatrix())).toEqual([])
  })

  test('every row has the expected outcome with both', async () => {
    for (const manifest of policies) await install(manifest)
    await eventually('policies in force', async () => {
      const replies = await Promise.all(canaries.map(attempt))
      return replies.every(({ message }) => message.includes('ValidatingAdmissionPolicy')) ? true : undefined
    })
    expect(wrong(await runMatrix())).toEqual([])
  })
})

describe('filling in requestedBy', () => {
  const grants = '/apis/github.sekisho.dev/v1alpha1/namespaces/acme/repositorygrants'
  const requester = ({ body }: Reply): unknown => (body as { spec?: { requestedBy?: unknown } }).spec?.requestedBy
  beforeAll(async () => {
    await install(mutating)
    await eventually('requestedBy filled in', async () => {
      const reply = await cluster.as(dave, 'POST', `${grants}?dryRun=All`, repositoryGrant('filled'))
      return requester(reply) === dave.user ? true : undefined
    })
  })

  describe.each(followers)('of a $kind', ({ path, object, change }) => {
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
  })

  test('does not replace a name that a person wrote', async () => {
    const reply = await cluster.as(dave, 'POST', `${grants}?dryRun=All`, repositoryGrant('x', mia.user))
    expect(outcome(reply)).toBe('refused')
  })
})

describe('the webhook', () => {
  const create = (): Promise<Reply> =>
    cluster.as(
      dave,
      'POST',
      '/apis/github.sekisho.dev/v1alpha1/namespaces/acme/installations?dryRun=All',
      installation({ name: 'mine' }),
    )

  test('keeps working when its certificate authority is replaced, while the old one is still trusted', async () => {
    for (const manifest of policies) await uninstall(manifest)
    await eventually('only the webhook refuses', async () =>
      (await create()).message.includes('admission webhook') ? true : undefined,
    )
    const path = '/api/v1/namespaces/sekisho-system/secrets/sekisho-admission-tls'
    const bundle = async (): Promise<string> => {
      const found = await cluster.admin.call('GET', `${registry}/validatingwebhookconfigurations/sekisho-admission`)
      const [entry] = (found as { webhooks: { clientConfig: { caBundle: string } }[] }).webhooks
      return Buffer.from(entry?.clientConfig.caBundle ?? '', 'base64').toString()
    }
    const before = await bundle()
    // An unreadable leaf makes the keeper create everything again, as a lost or damaged Secret would.
    await cluster.admin.call('PATCH', path, { data: { 'tls.crt': 'eA==' } }, 'application/merge-patch+json')
    await eventually('another authority is trusted', async () => ((await bundle()) === before ? undefined : true))
    await eventually('the webhook refuses again', async () => (outcome(await create()) === 'refused' ? true : undefined))
  })

  test('while it is down, blocks writes of our kinds and of tenants, but not those in other namespaces or of the platform', async () => {
    await webhook?.stop()
    webhook = undefined
    const status = async (path: string, body: unknown): Promise<number> =>
      (await cluster.as(clusterAdministrator, 'POST', `${path}?dryRun=All`, body)).status
    expect((await create()).status).toBe(500)
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x' } }
    expect(await status('/api/v1/namespaces/acme/secrets', secret)).toBe(500)
    for (const namespace of ['other', 'kube-system', 'sekisho-system'])
      expect(await status(`/api/v1/namespaces/${namespace}/secrets`, secret)).toBe(201)
    expect(await status('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'x' } })).toBe(201)
  })
})
