// Webhooks: the signature, the log, redelivery, order, and who receives what.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { issueCertificate, makeCertificateAuthority } from '../../../src/identity/certificate-authority.ts'
import type { RunningEmulator } from '../emulator.ts'
import { install, signIn } from '../testing/people.ts'
import { createRestClients, type RestClients } from '../testing/rest-client.ts'
import { startStockedEmulator } from '../testing/stocked-emulator.ts'
import { startWebhookReceiver, type WebhookReceiver } from '../testing/webhook-receiver.ts'
import { createSender } from './delivery.ts'
import { signSha256 } from './signature.ts'

let emulator: RunningEmulator
let receiver: WebhookReceiver
let clients: RestClients

beforeAll(async () => {
  receiver = await startWebhookReceiver()
  emulator = await startStockedEmulator({ app: { webhookUrl: receiver.url } })
  clients = createRestClients(emulator)
  await install(emulator, await signIn(emulator, 'olivia'), 2001, { repositoryIds: 'all' })
  await receiver.waitFor(one => one.event === 'installation')
})
afterAll(async () => {
  await emulator.stop()
  await receiver.close()
})

function settle() {
  return emulator.context.webhooks.idle()
}

async function list() {
  await settle()
  return (await clients.app.request('GET /app/hook/deliveries', { per_page: 100 })).data
}

function push(number: number): void {
  emulator.context.webhooks.emit({ name: 'push', action: null, accountId: 2001, repositoryId: 4001, payload: { number } })
}

test("the signature matches the example in GitHub's documentation", () => {
  expect(signSha256("It's a Secret to Everybody", 'Hello, World!')).toBe(
    'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
  )
})

test('a delivery has its hook, its App and its event in the headers', async () => {
  const { headers } = await receiver.waitFor(one => one.event === 'installation')
  expect(headers).toMatchObject({
    'content-type': 'application/json',
    'x-github-hook-installation-target-id': '5001',
    'x-github-hook-installation-target-type': 'integration',
    'x-github-delivery': expect.stringMatching(/^[0-9a-f-]{36}$/),
    'user-agent': expect.stringMatching(/^GitHub-Hookshot\//),
  })
})

describe('the log', () => {
  test('a failed delivery is logged, not repeated, and can be repeated under the same GUID', async () => {
    receiver.answer(503)
    push(1)
    const [failed] = await list()
    expect(failed).toMatchObject({ event: 'push', status_code: 503, redelivery: false, repository_id: 4001 })
    const before = receiver.received.length
    receiver.answer(200)
    await clients.app.request('POST /app/hook/deliveries/{delivery_id}/attempts', { delivery_id: Number(failed?.id) })
    const [again] = await list()
    expect(again).toMatchObject({ guid: failed?.guid, status: 'OK', redelivery: true })
    expect(again?.id).not.toBe(failed?.id)
    expect(receiver.received.length).toBe(before + 1)
    const { data } = await clients.app.request('GET /app/hook/deliveries/{delivery_id}', { delivery_id: Number(again?.id) })
    expect(data.request.payload).toMatchObject({ number: 1 })
  })
})

test('fifty events arrive in their order', async () => {
  const from = receiver.received.length
  for (let number = 100; number < 150; number += 1) push(number)
  await settle()
  const numbers = receiver.received.slice(from).map(one => one.payload['number'])
  expect(numbers).toEqual(Array.from({ length: 50 }, (_none, at) => 100 + at))
})

test('a suspended installation gets no events of its repositories, nor does one of another account', async () => {
  const [installation] = emulator.context.state.installations
  const before = (await list()).length
  emulator.context.webhooks.emit({ name: 'push', action: null, accountId: 2002, repositoryId: 4003, payload: {} })
  if (!installation) throw new Error('no installation')
  installation.suspendedAt = '2026-01-01T00:00:00Z'
  push(5)
  installation.suspendedAt = null
  expect((await list()).length).toBe(before)
})

describe('over TLS', () => {
  test('a receiver is trusted through the configured authority only', async () => {
    const common = { now: new Date(), lifetimeDays: 1 }
    const authority = await makeCertificateAuthority({ ...common, commonName: 'test authority' })
    const names = { commonName: 'receiver', dnsNames: [], ipAddresses: ['127.0.0.1'], usage: 'server' } as const
    const leaf = await issueCertificate({ ...common, ...names, authority })
    const server = createServer({ key: leaf.privateKeyPem.reveal(), cert: leaf.certificatePem }, (request, response) => {
      request.resume()
      request.on('end', () => response.writeHead(204).end())
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const folder = await mkdtemp(join(tmpdir(), 'webhook-ca-'))
    await writeFile(join(folder, 'ca.pem'), authority.certificatePem)
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const trusting = createSender(join(folder, 'ca.pem'))
    const strict = createSender(undefined)
    expect(await trusting.send(url, {}, '{}')).toMatchObject({ statusCode: 204, status: 'OK' })
    expect(await strict.send(url, {}, '{}')).toMatchObject({
      statusCode: 502,
      status: 'peer certificate cannot be authenticated',
    })
    await Promise.all([trusting.close(), strict.close()])
    await new Promise(resolve => server.close(resolve))
    await rm(folder, { recursive: true })
  })

  test('a receiver that does not listen is a logged failure', async () => {
    const sender = createSender(undefined)
    expect(await sender.send('http://127.0.0.1:9/', {}, '{}')).toMatchObject({
      statusCode: 502,
      status: 'failed to connect to host',
    })
    await sender.close()
  })
})
