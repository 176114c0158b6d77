// The renewal of the webhook's certificate on a real API server, by the ServiceAccount of the controllers with the rights that
// deploy/rbac ships. The registrations are read for real and answered by the test: other test files have the only ones of that
// name.
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { secrets } from '../../src/api/builtin/index.ts'
import { admissionWebhook } from '../../src/api/names.ts'
import type { ResourceType } from '../../src/api/resource.ts'
import { authorizerNames } from '../../src/api/wall-names.ts'
import { issueCertificate, makeCertificateAuthority } from '../../src/identity/certificate-authority.ts'
import type { CertifiedKey } from '../../src/identity/certified-key.ts'
import type { KubeClient } from '../../src/kube/client/client.ts'
import { createRecordingLog } from '../../src/kube/testing/recording-log.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { openAuthorizerCertificate } from '../../src/services/webhook-certificate/authorizer.ts'
import { authorizerHosts, webhookHosts } from '../../src/services/webhook-certificate/decide.ts'
import { openWebhookCertificate } from '../../src/services/webhook-certificate/open.ts'
import { withNamespace } from '../fixtures/harness.ts'
import { giveRightsIn, withClientOf } from '../fixtures/process-clients.ts'

const base64 = (text: string): string => Buffer.from(text).toString('base64')
const text = (encoded: string | undefined): string => Buffer.from(encoded ?? '', 'base64').toString()
const past = new Date(Date.now() - 21 * 86_400_000)
const name = admissionWebhook.secret

/** Reads registrations as the client does, and answers with this authority in them. */
function trusting(client: KubeClient, authorityPem: string): KubeClient {
  return {
    ...client,
    async get(type, key) {
      const found = await client.get(type, key)
      if (!(type as ResourceType).kind.endsWith('WebhookConfiguration')) return found
      return { webhooks: [{ name: 'x', clientConfig: { caBundle: base64(authorityPem) } }] } as never
    },
  }
}

test('the controllers renew the certificate in the Secret that the installer made, and make none themselves', async () => {
  const { name: namespace, admin } = await withNamespace()
  await giveRightsIn(namespace, 'platform')
  const client = await withClientOf('sekisho-controllers')
  const authority = await makeCertificateAuthority({ commonName: 'webhooks', now: past, lifetimeDays: 3650 })
  const names = { commonName: 'sekisho-admission', dnsNames: webhookHosts }
  const first = await issueCertificate({ authority, ...names, usage: 'server', now: past, lifetimeDays: 30 })
  const log = createRecordingLog()
  const settings = { admissionAuthorityCertificate: authority.certificatePem, admissionAuthorityKey: authority.privateKeyPem }
  const manager = { client: trusting(client, authority.certificatePem), isLeader: () => true }
  const loop = openWebhookCertificate({ settings, manager: manager as never, clock: systemClock, log, namespace })
  onTestFinished(() => loop?.stop())
  const served = () => client.get(secrets, { namespace, name })

  loop?.start()
  const missing = () => (log.lines.length > 0 ? log.lines.map(({ error }) => error) : undefined)
  expect(await waitUntil('the first round', async () => missing())).toEqual([
    expect.stringContaining(`Secret ${name} has no certificate`),
  ])
  expect(await served()).toBeUndefined()

  const data = { 'tls.crt': base64(first.certificatePem), 'tls.key': base64(first.privateKeyPem.reveal()) }
  const made = { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, type: 'kubernetes.io/tls', data }
  await admin.call('POST', `/api/v1/namespaces/${namespace}/secrets`, made)
  loop?.wake()
  const renewed = async () => {
    const secret = await served()
    return secret?.data?.['tls.crt'] === data['tls.crt'] ? undefined : secret
  }
  const secret = await waitUntil('another certificate', renewed)
  const leaf = new X509Certificate(text(secret.data?.['tls.crt']))
  expect(leaf.checkIssued(new X509Certificate(authority.certificatePem))).toBe(true)
  expect(webhookHosts.map(host => leaf.checkHost(host))).toEqual(webhookHosts)
  expect(leaf.checkPrivateKey(createPrivateKey(text(secret.data?.['tls.key'])))).toBe(true)
  expect(leaf.validToDate.getTime()).toBeGreaterThan(Date.now() + 29 * 86_400_000)
})

test('they renew that of the authorizer, too, where their authority issued it, and leave another one alone', async () => {
  const { name: namespace, admin } = await withNamespace()
  await giveRightsIn(namespace, 'platform')
  const client = await withClientOf('sekisho-controllers')
  const [authority, other] = await Promise.all(
    ['ours', 'other'].map(commonName => makeCertificateAuthority({ commonName, now: past, lifetimeDays: 3650 })),
  )
  if (authority === undefined || other === undefined) return expect.fail('no authority')
  const key = { namespace, name: authorizerNames.secret }
  const path = `/api/v1/namespaces/${namespace}/secrets`
  const put = async (by: CertifiedKey): Promise<string> => {
    const names = { commonName: 'sekisho-authorizer', dnsNames: authorizerHosts }
    const leaf = await issueCertificate({ authority: by, ...names, usage: 'server', now: past, lifetimeDays: 30 })
    const data = { 'tls.crt': base64(leaf.certificatePem), 'tls.key': base64(leaf.privateKeyPem.reveal()) }
    const made = { apiVersion: 'v1', kind: 'Secret', metadata: key, type: 'kubernetes.io/tls', data }
    await admin.request('DELETE', `${path}/${key.name}`)
    await admin.call('POST', path, made)
    return data['tls.crt']
  }
  const settings = { admissionAuthorityCertificate: authority.certificatePem, admissionAuthorityKey: authority.privateKeyPem }
  const rounds = createRounds()
  const loop = openAuthorizerCertificate({
    settings,
    manager: { client, isLeader: () => true } as never,
    clock: { ...systemClock, sleep: rounds.sleep },
    log: createRecordingLog(),
    namespace,
  })
  onTestFinished(() => loop?.stop())

  const foreign = await put(other)
  loop?.start()
  await rounds.ended()
  expect((await client.get(secrets, key))?.data?.['tls.crt']).toBe(foreign)

  const first = await put(authority)
  loop?.wake()
  const secret = await waitUntil('another certificate', async () => {
    const found = await client.get(secrets, key)
    return found?.data?.['tls.crt'] === first ? undefined : found
  })
  const leaf = new X509Certificate(text(secret.data?.['tls.crt']))
  expect([leaf.checkIssued(new X509Certificate(authority.certificatePem)), leaf.checkHost(authorizerHosts[0] ?? '')]).toEqual([
    true,
    authorizerHosts[0],
  ])
  expect(leaf.checkPrivateKey(createPrivateKey(text(secret.data?.['tls.key'])))).toBe(true)
})

/** A round has ended when its loop waits for the next one. */
function createRounds() {
  const first = Promise.withResolvers<void>()
  return {
    ended: () => first.promise,
    sleep: (): Promise<never> => {
      first.resolve()
      return new Promise<never>(() => {})
    },
  }
}
