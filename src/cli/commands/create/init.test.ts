// From the files of other platforms to manifests that the platform's own schemas accept; what has no place is said.
import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Value } from 'typebox/value'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { application as applicationKind } from '../../../api/apps/application.ts'
import { remoteSync } from '../../../api/apps/remote-sync.ts'
import type { TSchema } from '../../../api/schema/schema.ts'
import { init } from './init.ts'

let folder = ''
let said: string[] = []
const terminal = { result: (text: string) => void said.push(text), say: (text: string) => void said.push(text) }

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sekisho-init-'))
  said = []
})
afterEach(() => rm(folder, { recursive: true, force: true }))

type Spec = Readonly<Record<string, unknown>>

async function made(files: Readonly<Record<string, string | Buffer>>, options: object = {}): Promise<readonly [Spec, Spec]> {
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  const given = { repository: 'acme/shop', installation: 'github', file: 'sekisho.yaml', output: 'table' as const, ...options }
  await init(terminal, given, folder)
  const [application, sync] = parseAllDocuments(await readFile(join(folder, 'sekisho.yaml'), 'utf8')).map(one => one.toJS())
  expect([application.kind, sync.kind, application.metadata.name, sync.spec.application]).toEqual([
    'Application',
    'RemoteSync',
    'shop',
    'shop',
  ])
  expect(refusals(applicationKind.specSchema, application.spec)).toEqual([])
  expect(refusals(remoteSync.specSchema, sync.spec)).toEqual([])
  return [application.spec, sync.spec]
}

/** What the schema of the kind refuses, with its defaults set as the API server sets them; admission adds `requestedBy`. */
function refusals(schema: TSchema, spec: Spec): readonly string[] {
  return Value.Errors(schema, Value.Default(schema, structuredClone(spec)))
    .filter(error => !error.message.includes('requestedBy'))
    .map(error => `${error.instancePath} ${error.message}`)
}

const notes = (): string => said.filter(text => text.startsWith('not taken over')).join('\n')

test('a Procfile is left to the buildpacks, but for its release command', async () => {
  const [application, sync] = await made({
    Procfile: '\uFEFF# all\r\nweb: node server.js\r\nrelease: node migrate.js\r\nnonsense\r\n',
  })
  expect(application).toEqual({ releaseJob: { command: ['sh', '-c', 'node migrate.js'] } })
  expect(sync).toEqual({ installation: 'github', repository: 'acme/shop', source: {}, build: {}, application: 'shop' })
  expect(notes()).toContain('Procfile: line 4 is not "name: command"')
})

test('a Dockerfile builds the image, and the processes of a Procfile beside it are written down', async () => {
  const files = {
    Dockerfile: 'FROM a\nEXPOSE 1\nFROM b\nEXPOSE 8080 9090/tcp\n',
    Procfile: 'web: node server.js\nworker: node worker.js\n',
  }
  const [application, sync] = await made(files)
  expect(sync['build']).toEqual({ strategy: 'Dockerfile' })
  expect(application['processes']).toEqual([
    { name: 'web', command: ['sh', '-c', 'node server.js'], port: 8080 },
    { name: 'worker', command: ['sh', '-c', 'node worker.js'] },
  ])
  expect(notes()).toMatch(/8080 is that of web, 9090[\s\S]*runs as root/)
})

test('app.json gives variables, schedules and the number of pods; secrets and add-ons are said', async () => {
  const appJson = {
    name: 'Shop',
    env: {
      LOG_LEVEL: 'info',
      SESSION: { generator: 'secret' },
      API_TOKEN: { value: 'x' },
      REGION: { required: true },
      OTHER: { required: false },
    },
    formation: { web: { quantity: 2, size: 'standard-1x' } },
    addons: ['heroku-postgresql'],
    buildpacks: [],
    scripts: { postdeploy: 'node seed.js' },
    cron: [{ command: 'node nightly.js', schedule: '0 3 * * *' }],
  }
  const [application] = await made({ 'app.json': JSON.stringify(appJson) })
  expect(application).toEqual({
    replicas: 2,
    env: [{ name: 'LOG_LEVEL', value: 'info' }],
    cron: [{ name: 'cron-1', schedule: '0 3 * * *', command: ['sh', '-c', 'node nightly.js'] }],
  })
  for (const text of [
    'SESSION is a random value: openssl rand -hex 32 | sekisho secrets set shop SESSION=-',
    'API_TOKEN looks like a secret',
    'REGION has no value: sekisho env set shop REGION=…, or sekisho secrets set shop REGION',
    'addons: databases',
    'hooks.created',
  ])
    expect(notes()).toContain(text)
  expect(notes()).not.toMatch(/OTHER|buildpacks/)
})

test('a compose file gives the services that are built from the repository', async () => {
  const compose = `
services:
  app:
    build: .
    ports: ["8080:3000"]
    environment: {LOG_LEVEL: debug, DATABASE_URL: "postgres://u:p@db/shop"}
  worker:
    build: {context: ./}
    command: [node, worker.js]
    volumes: ["data:/data"]
  docs: {build: ./docs}
  db: {image: "postgres:17"}
`
  const [application, sync] = await made({ 'compose.yaml': compose })
  expect(sync['build']).toEqual({ strategy: 'Dockerfile' })
  expect(application).toEqual({
    processes: [
      { name: 'web', port: 3000 },
      { name: 'worker', command: ['node', 'worker.js'] },
    ],
    env: [{ name: 'LOG_LEVEL', value: 'debug' }],
  })
  for (const text of [
    'service db (postgres:17)',
    'service docs is built otherwise',
    'DATABASE_URL looks like a secret',
    'spec.volumes',
  ])
    expect(notes()).toContain(text)
})

test('the Dockerfile of a compose file is that of the RemoteSync; arguments and variables without a value are said', async () => {
  const compose = `
services:
  web:
    build: {context: ., dockerfile: docker/Dockerfile, args: {A: b}}
    environment: [LOG_LEVEL=debug, REGION]
`
  const [application, sync] = await made({ 'compose.yaml': compose })
  expect(sync['build']).toEqual({ strategy: 'Dockerfile', dockerfile: { path: 'docker/Dockerfile' } })
  expect(application['env']).toEqual([{ name: 'LOG_LEVEL', value: 'debug' }])
  for (const text of ['service web, build.args', 'service web, variable REGION has no value: sekisho env set shop REGION=…'])
    expect(notes()).toContain(text)
})

test('a folder without such files gives what buildpacks need; the repository is that of the remote origin', async () => {
  execFileSync('git', ['-C', folder, 'init', '--quiet'])
  execFileSync('git', ['-C', folder, 'remote', 'add', 'origin', 'git@github.com:acme/Shop.git'])
  const [application, sync] = await made({}, { repository: undefined })
  expect([application, sync['repository']]).toEqual([{}, 'acme/shop'])
})

describe('bad input is refused, with the file and the cure', () => {
  const aliases = `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefgh'
    .split('')
    .map((name, index) => `${name}: &${name} [${Array(9).fill(`*${'abcdefg'[index]}`).join(',')}]`)
    .join('\n')}\nservices: {}\n`
  test.each([
    ['app.json', '[]', 'app.json is not a JSON object'],
    ['app.json', '{"a":', 'app.json is not a JSON object'],
    ['compose.yaml', 'services: [', 'compose.yaml is not YAML'],
    ['compose.yaml', 'a: 1', 'compose.yaml has no services'],
    ['compose.yaml', aliases, 'compose.yaml is not YAML'],
    ['Procfile', Buffer.from([0xff, 0xfe, 0x77]), 'is not a text in UTF-8'],
    ['Procfile', 'a: b\n'.repeat(100_000), 'is larger than 256 KiB'],
  ])('%s', async (file, content, message) => {
    await expect(made({ [file]: content })).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining(message),
    })
  })

  test('a file that is there, a repository that is none, and no repository', async () => {
    await made({})
    await expect(made({})).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining('exists already') })
    await expect(made({}, { repository: 'https://github.com/acme/shop' })).rejects.toThrow('write the repository as owner/name')
    await expect(made({}, { repository: undefined })).rejects.toThrow('no repository')
    const options = { repository: 'acme/shop', installation: 'github', file: 'sekisho.yaml', output: 'table' as const }
    await expect(init(terminal, options, join(folder, 'none'))).rejects.toThrow('there is no folder')
  })

  test('a Procfile of many short lines ends with a note', async () => {
    const lines = Array.from({ length: 20_000 }, (_, index) => `p${index}: x`).join('\n')
    await made({ Procfile: lines, Dockerfile: 'FROM a\nUSER 1000\nEXPOSE 80' })
    expect(notes()).toMatch(/the rest is not read[\s\S]*process p9: an Application has at most 10/)
    expect(said.length).toBeLessThan(100)
  })
})
