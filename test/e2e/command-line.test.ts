// What the programs answer on a running platform: an expired login says what to do, a platform admin halts for everybody, and a
// process without settings names all missing variables at once.
import { spawn } from 'node:child_process'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commandLineLogin } from '../../dev/demo/scenario/sign-in.ts'
import { openPlatform, type Platform } from './platform.ts'

let platform: Platform

beforeAll(async () => {
  platform = await openPlatform([])
  await commandLineLogin(platform.world, platform.world.people.dave)
})

afterAll(async () => {
  const { ada, dave } = platform.world.people
  for (const { home } of [ada, dave]) await rm(home, { recursive: true, force: true })
  await platform.admin.close()
})

async function tokenFiles(): Promise<readonly string[]> {
  const folder = join(platform.world.people.dave.home, '.local/state/sekisho/tokens')
  return (await readdir(folder)).filter(name => name.endsWith('.json')).map(name => join(folder, name))
}

test('an expired login is reported with what to do, also through kubectl', async () => {
  const [file = ''] = await tokenFiles()
  const cached = JSON.parse(await readFile(file, 'utf8'))
  expect(await platform.sekisho('dave', ['token'])).toMatchObject({ code: 0 })
  await writeFile(file, JSON.stringify({ ...cached, expiresAt: 1, refreshToken: 'an-old-one' }))
  const kubectl = await platform.kubectl('dave', ['get', 'applications', '-n', 'acme'])
  expect(kubectl.code).not.toBe(0)
  expect(kubectl.errors).toMatch(/run sekisho login/)
  const token = await platform.sekisho('dave', ['token'])
  expect(token.code).not.toBe(0)
  expect(token.output).toBe('')
  expect(token.errors).toMatch(/you are not signed in to https:\S+: run sekisho login/)
  expect(token.errors).not.toMatch(/\n\s+at /)
  expect(`${token.errors}${kubectl.errors}`).not.toContain('an-old-one')
})

test('the first call with an expired login reports that it has ended', async () => {
  await commandLineLogin(platform.world, platform.world.people.dave)
  const [file = ''] = await tokenFiles()
  const cached = JSON.parse(await readFile(file, 'utf8'))
  await writeFile(file, JSON.stringify({ ...cached, expiresAt: 1, refreshToken: 'an-old-one' }))
  const { code, errors } = await platform.sekisho('dave', ['token'])
  expect(code).not.toBe(0)
  expect(errors.trim()).toMatch(/your login has ended: run sekisho login$/)
})

test('reading the audit log without permission is refused with a reason', async () => {
  await commandLineLogin(platform.world, platform.world.people.dave)
  const { code, errors } = await platform.sekisho('dave', ['audit', 'list'])
  expect(code).not.toBe(0)
  expect(errors).toMatch(/there is no audit log that you may read/)
})

test('a platform admin halts a person for everybody, sees that, and lifts it', async () => {
  const { ada } = platform.world.people
  await commandLineLogin(platform.world, ada)
  // A number that nobody has.
  const nobody = ['halt', 'person', 'github.localhost/999999', '--platform', '-o', 'json']
  const asked = await platform.sekisho('ada', [...nobody, '--dry-run'])
  expect([asked.code, asked.errors]).toEqual([0, ''])
  expect(JSON.parse(asked.output)).toMatchObject({ dryRun: true, state: 'DryRun', ends: { counted: true, webSessions: 0 } })
  const halted = await platform.sekisho('ada', [...nobody, '--reason', 'a test halts it'])
  expect([halted.code, halted.errors]).toEqual([0, ''])
  const { name } = JSON.parse(halted.output) as { readonly name: string }
  const listed = await platform.sekisho('ada', ['halts', '--platform', '-o', 'json'])
  expect(JSON.parse(listed.output)).toMatchObject([{ name, state: 'Enforced', dryRun: false }])
  const lifted = await platform.sekisho('ada', ['resume', name, '--platform', '--reason', 'the test is over'])
  expect([lifted.code, lifted.errors]).toEqual([0, ''])
})

test('a platform admin verifies the log by the checkpoints in the cluster', async () => {
  const kept = await platform.kubectl('ada', [
    '-n',
    'sekisho-system',
    'get',
    'configmap',
    'sekisho-audit-checkpoints',
    '-o',
    'json',
  ])
  expect([kept.code, kept.errors]).toEqual([0, ''])
  const file = join(platform.world.people.ada.home, 'checkpoints.json')
  await writeFile(file, kept.output)
  const verified = await platform.sekisho('ada', ['audit', 'verify', '--checkpoint', file])
  expect([verified.code, verified.output]).toEqual([0, expect.stringContaining('audit log verified')])
})

const required = [
  'SEKISHO_GITHUB_CLIENT_SECRET',
  'SEKISHO_GITHUB_WEBHOOK_SECRET',
  'SEKISHO_PUBLIC_URL',
  'SEKISHO_REGISTRY',
  'SEKISHO_INGRESS_FROM',
  'SEKISHO_SEALING_KEYS',
  'SEKISHO_TLS_CERTIFICATE_PATH',
  'SEKISHO_TLS_KEY_PATH',
]

function startPlatformWith(environment: Readonly<Record<string, string>>): Promise<{ code: number | null; errors: string }> {
  return new Promise((resolve, reject) => {
    const program = join(platform.world.repository, 'src/standalone.ts')
    const child = spawn(process.execPath, [program], { env: environment, stdio: ['ignore', 'ignore', 'pipe'], timeout: 30_000 })
    const errors: Buffer[] = []
    child.stderr.on('data', (chunk: Buffer) => errors.push(chunk))
    child.on('error', reject)
    child.on('close', code => resolve({ code, errors: Buffer.concat(errors).toString() }))
  })
}

test('without settings the platform names every missing variable at once and does not start', async () => {
  const { code, errors } = await startPlatformWith({})
  expect(code).toBe(1)
  expect(required.filter(name => !errors.includes(name))).toEqual([])
  expect(errors).not.toMatch(/\n\s+at /)
})

test('invalid settings are named together with missing ones, without their values', async () => {
  const { code, errors } = await startPlatformWith({
    SEKISHO_PUBLIC_URL: 'http://plain.example.com',
    SEKISHO_BROKER_PORT: 'tcp://10.0.0.1:8443',
    SEKISHO_SEALING_KEYS: 'much-too-short-to-be-a-key',
  })
  expect(code).toBe(1)
  for (const name of ['SEKISHO_PUBLIC_URL', 'SEKISHO_BROKER_PORT', 'SEKISHO_SEALING_KEYS', 'SEKISHO_TLS_KEY_PATH'])
    expect(errors).toContain(name)
  expect(errors).not.toContain('much-too-short-to-be-a-key')
})
