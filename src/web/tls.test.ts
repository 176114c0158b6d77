import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { SecretString } from '../lib/secret-string.ts'
import { silentLog } from '../lib/testing/silent-log.ts'
import { waitUntil } from '../lib/waiting/wait-until.ts'
import { createWebServer, listen } from './server.ts'
import { certificateFromFiles, checkKeyPair } from './tls.ts'

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tls-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

function makePair(folder: string, name: string): void {
  const args = [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-days',
    '1',
    '-subj',
    `/CN=${name}`,
  ]
  const program = 'openssl'
  execFileSync(program, [...args, '-keyout', join(folder, `${name}.key`), '-out', join(folder, `${name}.crt`)], {
    stdio: 'ignore',
  })
}

function servedName(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, path: '/', rejectUnauthorized: false, agent: false }, response => {
      response.resume()
      const { socket } = response
      resolve(
        'getPeerCertificate' in socket ? String((socket as import('node:tls').TLSSocket).getPeerCertificate().subject.CN) : '',
      )
    })
    asked.once('error', reject)
    asked.end()
  })
}

test('a renewed pair is served without a restart', async () => {
  const folder = makeFolder()
  for (const name of ['old', 'new']) makePair(folder, name)
  const files = { certificatePath: join(folder, 'old.crt'), privateKeyPath: join(folder, 'old.key') }
  const certificate = certificateFromFiles(files, { log: silentLog, intervalMilliseconds: 20 })
  const server = await createWebServer({ log: silentLog, certificate })
  onTestFinished(async () => {
    await server.close()
    certificate.stop()
  })
  const port = await listen(server, { host: '127.0.0.1', port: 0 })
  expect(await servedName(port)).toBe('old')
  renameSync(join(folder, 'new.key'), files.privateKeyPath)
  renameSync(join(folder, 'new.crt'), files.certificatePath)
  await waitUntil('the new certificate to be served', async seen => seen(await servedName(port)) === 'new')
})

test('a key of another certificate is refused', () => {
  const folder = makeFolder()
  for (const name of ['one', 'two']) makePair(folder, name)
  const read = (file: string): string => readFileSync(join(folder, file), 'utf8')
  expect(() => checkKeyPair({ certificate: read('one.crt'), privateKey: new SecretString(read('two.key')) })).toThrow(
    'does not belong',
  )
  expect(() => checkKeyPair({ certificate: 'x', privateKey: new SecretString('y') })).toThrow('not readable PEM')
})

test('a file that is not there is named', () => {
  const folder = makeFolder()
  makePair(folder, 'a')
  const [certificatePath, privateKeyPath] = [join(folder, 'a.crt'), join(folder, 'a.key')]
  const clientAuthorityPath = join(folder, 'clients.crt')
  for (const files of [
    { certificatePath, privateKeyPath, clientAuthorityPath },
    { certificatePath: clientAuthorityPath, privateKeyPath },
  ])
    expect(() => certificateFromFiles(files, { log: silentLog })).toThrow(
      expect.objectContaining({ code: 'invalid_configuration', message: expect.stringContaining(clientAuthorityPath) }),
    )
})

test('the authority of the clients is read again when it changes', async () => {
  const folder = makeFolder()
  for (const name of ['a', 'clients', 'others']) makePair(folder, name)
  const at = (name: string): string => join(folder, name)
  const files = { certificatePath: at('a.crt'), privateKeyPath: at('a.key'), clientAuthorityPath: at('clients.crt') }
  const certificate = certificateFromFiles(files, { log: silentLog, intervalMilliseconds: 20 })
  onTestFinished(certificate.stop)
  const [first, second] = [readFileSync(at('clients.crt'), 'utf8'), readFileSync(at('others.crt'), 'utf8')]
  expect(certificate.current().clientAuthorities).toBe(first)
  renameSync(at('others.crt'), at('clients.crt'))
  await waitUntil('the second authority', seen => seen(certificate.current().clientAuthorities) === second)
})
