// Two replicas of the webhook are replaced one after the other while people write what only the webhook can complete, on a real
// API server: not one write may be refused.
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { registrations } from '../../src/admission/registrations.ts'
import { SecretString } from '../../src/lib/secret-string.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import type { WebhookCertificate } from '../fixtures/webhook-certificate.ts'
import { type AttackCluster, startAttackCluster, webhookAddress } from './attack-cluster.ts'
import { createFixtures } from './fixtures.ts'
import { dave } from './identities.ts'
import { repositoryGrant } from './objects.ts'
import { startReplicas, type WebhookReplicas } from './webhook-replicas.ts'

const options = { name: 'restart-cluster' } as const
const address = webhookAddress(options)
const writersAtOnce = 8
const pauseMilliseconds = 20
let cluster: AttackCluster
let replicas: WebhookReplicas

beforeAll(async () => {
  cluster = await startAttackCluster(options)
  await createFixtures(cluster)
  const certificate = await certificateOfGuide()
  const { authorityPem } = certificate
  const { clientAuthorities } = cluster
  replicas = await startReplicas({ address, firstPort: address.port + 1, certificate, clientAuthorities })
  const target = { kind: 'url', origin: `https://${address.host}:${address.port}`, authorityPem } as const
  for (const manifest of registrations(target))
    await cluster.admin.apply(
      `/apis/admissionregistration.k8s.io/v1/${manifest.kind.toLowerCase()}s/${manifest.metadata.name}`,
      manifest,
    )
  await waitUntil('requestedBy filled in', async () => (await isFilledIn()) === true)
})
afterAll(async () => {
  await replicas?.stop()
  await cluster?.stop()
})

/** Runs the commands of the installation guide, for the address of this test. */
async function certificateOfGuide(): Promise<WebhookCertificate> {
  const guide = await readFile(join(import.meta.dirname, '../../docs/guide/install.md'), 'utf8')
  const commands = /openssl req -x509 .*?-out admission\.crt .*?(?=\nkubectl )/s.exec(guide)?.[0]
  if (commands === undefined) throw new Error('the guide does not say how to make the certificate of the webhook')
  const folder = await mkdtemp(join(tmpdir(), 'guide-'))
  try {
    const here = commands.replace('DNS:sekisho-admission.sekisho-system.svc', `IP:${address.host}`)
    await promisify(execFile)('bash', ['-euc', here], { cwd: folder })
    const authorityPem = await readFile(join(folder, 'admission-authority.crt'), 'utf8')
    const certificate = await readFile(join(folder, 'admission.crt'), 'utf8')
    const privateKey = new SecretString(await readFile(join(folder, 'admission.key'), 'utf8'))
    return { authorityPem, pair: { certificate, privateKey } }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** True, or what the API server said. */
async function isFilledIn(): Promise<true | string> {
  const path = '/apis/github.sekisho.dev/v1alpha1/namespaces/acme/repositorygrants?dryRun=All'
  const { status, message, body } = await cluster.as(dave, 'POST', path, repositoryGrant('written'))
  const name = (body as { spec?: { requestedBy?: unknown } }).spec?.requestedBy
  return status === 201 && name === dave.user ? true : `${status}: ${message}`
}

/** Writes all the time until `stop`, which resolves to the number of writes and what was said of those that failed. */
function startWriters() {
  const failures: string[] = []
  let written = 0
  let stopped = false
  const writer = async (): Promise<void> => {
    while (!stopped) {
      const answer = await isFilledIn()
      written += 1
      if (answer !== true) failures.push(answer)
      await sleep(pauseMilliseconds)
    }
  }
  const running = Promise.all(Array.from({ length: writersAtOnce }, writer))
  return async () => {
    stopped = true
    await running
    return { written, failures }
  }
}

test('a rolling restart of both replicas refuses no write', async () => {
  const stop = startWriters()
  const codes = [await replicas.replace(0), await replicas.replace(1), await replicas.replace(0)]
  const { written, failures } = await stop()
  expect(failures).toEqual([])
  expect(codes).toEqual([0, 0, 0])
  expect(written).toBeGreaterThan(500)
  expect(replicas.connections().every(({ opened }) => opened > 0)).toBe(true)
})

test('the writers notice a replica that does not drain', async () => {
  const stop = startWriters()
  const [first, second] = await waitUntil('connections', async () => {
    const now = replicas.connections()
    return now.some(({ open }) => open > 0) ? now : undefined
  })
  await replicas.replace((first?.open ?? 0) > (second?.open ?? 0) ? 0 : 1, 'SIGKILL')
  const { failures } = await stop()
  expect(failures.length).toBeGreaterThan(0)
})
