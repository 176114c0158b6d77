// The configuration of the production form's PostgreSQL, read by PostgreSQL itself: nobody gets in without TLS, and commits are
// durable.
import { execFile } from 'node:child_process'
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { accountToRunAs } from './account.ts'
import { findPostgres } from './find-postgres.ts'
import { accessRules, serverConfiguration } from './platform-server.ts'
import { tenantsAccessRules } from './tenants-server.ts'

const run = promisify(execFile)
const settings = { nodeAddress: '10.88.0.1', podCidr: '10.244.0.0/24', postgresPort: 5432 }

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'platform-server-'))
})

afterEach(() => rm(folder, { recursive: true }))

/** `postgres -C` prints a value as the server would use it, without starting. */
async function valuesOf(names: readonly string[]): Promise<readonly string[]> {
  const programs = findPostgres() ?? ''
  const account = await accountToRunAs()
  if (account) await chown(folder, account.uid, account.gid)
  const data = join(folder, 'data')
  await run(join(programs, 'initdb'), ['-D', data, '-U', 'postgres', '--no-sync', '--auth=reject'], { ...account, cwd: '/' })
  const file = join(folder, 'postgresql.conf')
  const files = { access: join(folder, 'pg_hba.conf'), certificate: join(folder, 'c'), key: join(folder, "it's") }
  await writeFile(file, serverConfiguration(settings, folder, files))
  if (account) await chown(file, account.uid, account.gid)
  return Promise.all(
    names.map(async name => {
      const args = ['-D', data, '-c', `config_file=${file}`, '-C', name]
      return (await run(join(programs, 'postgres'), args, { ...account, cwd: '/' })).stdout.trim()
    }),
  )
}

test('commits wait for the disk, TLS is on, and quotes in paths are kept', async () => {
  const names = [
    'fsync',
    'synchronous_commit',
    'full_page_writes',
    'ssl',
    'listen_addresses',
    'password_encryption',
    'ssl_key_file',
  ]
  const expected = ['on', 'on', 'on', 'on', '10.88.0.1', 'scram-sha-256', join(folder, "it's")]
  expect(await valuesOf(names)).toEqual(expected)
})

test('pods get in by TLS and password, to the one database; the superuser by the socket alone', () => {
  const rules = accessRules(settings).trimEnd().split('\n')
  expect(rules.filter(rule => rule.startsWith('host ') || rule.startsWith('hostnossl '))).toEqual([])
  expect(rules).toEqual([
    'local all postgres peer',
    'hostssl sekisho all 10.88.0.1/32 scram-sha-256',
    'hostssl sekisho all 10.244.0.0/24 scram-sha-256',
  ])
})

test('tenants get into their server by TLS and password, and nobody by the network as the superuser of the operating system', () => {
  expect(tenantsAccessRules(settings).trimEnd().split('\n')).toEqual([
    'local all postgres peer',
    'hostssl all all 10.88.0.1/32 scram-sha-256',
    'hostssl all all 10.244.0.0/24 scram-sha-256',
  ])
})
