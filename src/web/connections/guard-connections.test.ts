// Real servers on loopback: proxies that name their clients, connections that say nothing, and what others notice of them.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { expect, onTestFinished, test } from 'vitest'
import { SecretString } from '../../lib/secret-string.ts'
import { silentLog } from '../../lib/testing/silent-log.ts'
import { limits } from '../../lib/waiting/limits.ts'
import { waitUntil } from '../../lib/waiting/wait-until.ts'
import { parseAddressList } from '../clients/address-list.ts'
import { clientAddress } from '../clients/client-key.ts'
import { createWebServer, listen, type WebServerOptions } from '../server.ts'
import { createCertificate } from '../tls.ts'
import { createConnectionTable } from './connection-table.ts'

/** Made by openssl, because this folder knows no certificate authority of ours. */
function makeCertificate() {
  const folder = mkdtempSync(join(tmpdir(), 'connections-'))
  const [key, leaf] = [join(folder, 'tls.key'), join(folder, 'tls.crt')]
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const named = ['-days', '1', '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
  execFileSync('openssl', ['req', '-x509', ...curve, ...named, '-keyout', key, '-out', leaf], { stdio: 'ignore' })
  const made = { certificatePem: readFileSync(leaf, 'utf8'), privateKeyPem: new SecretString(readFileSync(key, 'utf8')) }
  rmSync(folder, { recursive: true })
  return made
}

const leaf = makeCertificate()
const certificate = createCertificate({ certificate: leaf.certificatePem, privateKey: leaf.privateKeyPem })
const ca = leaf.certificatePem

async function serve(options: Partial<WebServerOptions>): Promise<number> {
  const server = await createWebServer({ log: silentLog, requestsPerMinute: 'unlimited', ...options })
  server.get('/address', async request => clientAddress(request))
  server.post('/echo', async request => request.body)
  onTestFinished(() => server.close())
  return listen(server, { host: '127.0.0.1', port: 0 })
}

/**
 * One request over a connection that begins with `first`; the text of the answer, or undefined when the connection was closed.
 */
async function ask(
  port: number,
  first: string | Buffer,
  tls: boolean,
  headers: Record<string, string> = {},
): Promise<string | undefined> {
  const socket = connect({ host: '127.0.0.1', port })
  onTestFinished(() => void socket.destroy())
  if (first.length > 0) socket.write(first)
  return new Promise(resolve => {
    socket.once('error', () => resolve(undefined))
    const stream = tls ? connectTls({ socket, ca, servername: 'localhost' }) : socket
    const answered = request({ path: '/address', headers: { host: 'localhost', ...headers }, createConnection: () => stream })
    answered.once('error', () => resolve(undefined))
    answered.once('response', response => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
      response.once('end', () => resolve(text))
    })
    answered.end()
  })
}

const version2 = Buffer.concat([
  Buffer.from('0d0a0d0a000d0a515549540a', 'hex'),
  Buffer.from([0x21, 0x11, 0, 12, 203, 0, 113, 9, 127, 0, 0, 1, 1, 2, 3, 4]),
])

test.each([
  ['TLS', true],
  ['plain HTTP', false],
])('over %s, the address is what the header of the PROXY protocol says', async (_name, tls) => {
  const trustedProxies = parseAddressList('127.0.0.0/8')
  const port = await serve({ trustedProxies, proxyProtocol: true, ...(tls ? { certificate } : {}) })
  expect(await ask(port, 'PROXY TCP4 203.0.113.7 127.0.0.1 1 2\r\n', tls)).toBe('203.0.113.7')
  expect(await ask(port, 'PROXY TCP6 2001:db8::7 ::1 1 2\r\n', tls)).toBe('2001:db8::7')
  expect(await ask(port, version2, tls)).toBe('203.0.113.9')
  expect(await ask(port, 'PROXY UNKNOWN\r\n', tls)).toBe('127.0.0.1')
  // A proxy in the list may be behind another one; a client that names itself is not believed.
  const forged = { 'x-forwarded-for': '198.51.100.1' }
  expect(await ask(port, 'PROXY TCP4 203.0.113.7 127.0.0.1 1 2\r\n', tls, forged)).toBe('203.0.113.7')
})

test('a connection without the header, or from an address that is not in the list, is closed', async () => {
  const port = await serve({ trustedProxies: parseAddressList('127.0.0.0/8'), proxyProtocol: true, certificate })
  expect(await ask(port, '', true)).toBeUndefined()
  expect(await ask(port, 'PROXY TCP4 1.2.3 4.5.6.7 1 2\r\n', true)).toBeUndefined()
  const foreign = await serve({ trustedProxies: parseAddressList('203.0.113.0/24'), proxyProtocol: true, certificate })
  expect(await ask(foreign, 'PROXY TCP4 203.0.113.7 127.0.0.1 1 2\r\n', true)).toBeUndefined()
  const none = await serve({ proxyProtocol: true, certificate })
  expect(await ask(none, 'PROXY TCP4 203.0.113.7 127.0.0.1 1 2\r\n', true)).toBeUndefined()
})

test('X-Forwarded-For counts from trusted proxies only, from the right, hop by hop', async () => {
  const of = (headers: string) => ({ 'x-forwarded-for': headers })
  const open = await serve({ certificate })
  expect(await ask(open, '', true, of('203.0.113.7'))).toBe('127.0.0.1')
  const port = await serve({ certificate, trustedProxies: parseAddressList('127.0.0.1, 10.0.0.0/8') })
  expect(await ask(port, '', true, of('203.0.113.7'))).toBe('203.0.113.7')
  expect(await ask(port, '', true, of('198.51.100.1, 203.0.113.7, 10.1.1.1'))).toBe('203.0.113.7')
  expect(await ask(port, '', true, of('anything; at all'))).toBe('127.0.0.1')
  expect(await ask(port, '', true)).toBe('127.0.0.1')
})

/** `count` connections that send `text`, over TLS or not, and nothing more. */
async function silent(port: number, count: number, open: () => Socket): Promise<readonly Socket[]> {
  const sockets = Array.from({ length: count }, () => {
    const socket = open()
    socket.on('error', () => socket.destroy())
    // An end that nobody reads is not noticed.
    socket.resume()
    return socket
  })
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
  })
  expect(port).toBeGreaterThan(0)
  return sockets
}

test('a thousand half-open connections are ended in time, and nobody else waits for them', async () => {
  const patience = { handshake: 2000, headers: 2000, request: 4000 }
  const port = await serve({ certificate, patience })
  const raw = () => connect({ host: '127.0.0.1', port })
  const halfHeader = () => {
    const socket = connectTls({ host: '127.0.0.1', port, ca, servername: 'localhost' })
    socket.write('GET /address HTTP/1.1\r\nhost: localhost\r\nx-slow: ')
    return socket
  }
  const halfBody = () => {
    const socket = connectTls({ host: '127.0.0.1', port, ca, servername: 'localhost' })
    socket.write('POST /echo HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{')
    return socket
  }
  const sockets = [
    ...(await silent(port, 940, raw)),
    ...(await silent(port, 30, halfHeader)),
    ...(await silent(port, 30, halfBody)),
  ]
  for (let asked = 0; asked < 20; asked += 1) expect(await ask(port, '', true)).toBe('127.0.0.1')
  await waitUntil('every connection to be ended', seen => seen(sockets.filter(socket => !socket.closed).length) === 0, {
    timeoutMilliseconds: limits.rollout,
  })
  expect(await ask(port, '', true)).toBe('127.0.0.1')
})

test('above the bound the connections that say nothing are ended, the oldest first, and a request that is being answered never', async () => {
  const port = await serve({ certificate, connections: { most: 50, maxOfClient: 40 } })
  const sockets = await silent(port, 100, () => connect({ host: '127.0.0.1', port }))
  await waitUntil('sixty connections to be ended', seen => seen(sockets.filter(socket => socket.closed).length) >= 60)
  for (let asked = 0; asked < 10; asked += 1) expect(await ask(port, '', true)).toBe('127.0.0.1')
})

test('of two clients, the one with more connections loses one; all at work is a refusal', () => {
  const ended: string[] = []
  const table = createConnectionTable({ most: 4, maxOfClient: 4 })
  const add = (client: string, name: string) => table.add(client, () => ended.push(name))
  const [first, second] = [add('flood', 'f1'), add('flood', 'f2')]
  add('flood', 'f3')
  const one = add('person', 'p1')
  if (!first || !second || !one) return expect.unreachable()
  const whole = { complete: true, headers: {} }
  table.begin(first, whole)
  // The body of this one has not arrived.
  table.begin(second, { complete: false, headers: { 'content-length': '10' } })
  add('person', 'p2')
  expect(ended).toEqual(['f2'])
  table.begin(one, whole)
  table.answered(one)
  add('person', 'p3')
  add('person', 'p4')
  expect(ended).toEqual(['f2', 'f3', 'p2'])
  expect(table.size()).toBe(4)
  const busy = createConnectionTable({ most: 1, maxOfClient: 1 })
  const only = busy.add('a', () => ended.push('never'))
  if (!only) return expect.unreachable()
  busy.begin(only, whole)
  expect(busy.add('b', () => {})).toBeUndefined()
  busy.remove(only)
  expect(busy.add('b', () => {})).toBeDefined()
})
