// A client is kept while nothing that it depends on changes, and replaced when a key or the App changes.
import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { Secret } from '../../api/builtin/index.ts'
import type { ClusterGitHubApp } from '../../api/github/cluster-github-app.ts'
import { systemClock } from '../../lib/clock.ts'
import { silentLog } from '../../lib/testing/silent-log.ts'
import { appOfInstallation, createGitHubApps } from './app-clients.ts'
import { installationObject } from './testing/desk-objects.ts'

const pem = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()

function fixture() {
  const apps = new Map<string, ClusterGitHubApp>()
  const secrets = new Map<string, Secret>()
  const closed = new Set<string>()
  const put = (generation: number, resourceVersion: string): void => {
    apps.set('default', {
      apiVersion: 'github.sekisho.dev/v1alpha1',
      kind: 'ClusterGitHubApp',
      metadata: { name: 'default', uid: 'u', generation, resourceVersion },
      spec: {
        host: 'github.com',
        appId: 5,
        clientId: 'Iv1',
        privateKeys: [
          { secretName: 'new', key: 'private-key.pem' },
          { secretName: 'old', key: 'private-key.pem' },
        ],
      },
    })
  }
  const putSecret = (name: string, resourceVersion: string, data: Record<string, string>): void => {
    secrets.set(name, { apiVersion: 'v1', kind: 'Secret', metadata: { name, resourceVersion }, data })
  }
  const githubApps = createGitHubApps({
    apps: { get: ({ name }) => apps.get(name), list: () => [...apps.values()] },
    async secretOf(name) {
      const secret = secrets.get(name)
      return secret === undefined ? { kind: closed.has(name) ? 'forbidden' : 'absent' } : { kind: 'found', secret }
    },
    isLeader: () => true,
    log: silentLog,
    clock: systemClock,
  })
  const key = { 'private-key.pem': Buffer.from(pem).toString('base64') }
  return { apps, put, putSecret, closed, githubApps, key }
}

describe('clients by the name of an App', () => {
  test('are refused for an unknown App, and for a missing Secret by its name', async () => {
    const { githubApps, put } = fixture()
    await expect(githubApps.get('default')).rejects.toMatchObject({ code: 'not_found' })
    put(1, '1')
    await expect(githubApps.get('default')).rejects.toMatchObject({
      reason: 'PrivateKeyMissing',
      message: 'Secret new (key private-key.pem) or old (key private-key.pem) is missing in namespace sekisho-system: create it',
    })
  })

  test('are refused where the platform may not read the Secret, saying so; the other key of a rotation suffices', async () => {
    const { githubApps, put, putSecret, closed, key } = fixture()
    put(1, '1')
    closed.add('new')
    await expect(githubApps.get('default')).rejects.toMatchObject({
      reason: 'PrivateKeyMissing',
      message: expect.stringContaining('the platform may not read Secret new in namespace sekisho-system'),
    })
    putSecret('old', '1', key)
    expect((await githubApps.get('default')).appId).toBe(5)
  })

  test('are refused where an older App says that the host is elsewhere: no key is used for the one and no token sent to the other', async () => {
    const { apps, githubApps, put, putSecret, key } = fixture()
    put(1, '1')
    putSecret('old', '1', key)
    const [older] = apps.values()
    if (older === undefined) throw new Error('no App')
    const endpoints = { web: 'https://evil.example', api: 'https://evil.example/api/v3' }
    const metadata = { ...older.metadata, name: 'younger', creationTimestamp: '2026-01-02T00:00:00Z' }
    apps.set('default', { ...older, metadata: { ...older.metadata, creationTimestamp: '2026-01-01T00:00:00Z' } })
    apps.set('younger', { ...older, metadata, spec: { ...older.spec, endpoints } })
    await expect(githubApps.get('younger')).rejects.toMatchObject({ code: 'invalid_configuration', reason: 'HostConflict' })
    expect((await githubApps.get('default')).endpoints.api).toBe('https://api.github.com')
  })

  test('are refused for an account of another host, whatever its ids', async () => {
    const { githubApps, put, putSecret, key } = fixture()
    put(1, '1')
    putSecret('old', '1', key)
    const { spec } = installationObject
    const on = (host: string) => appOfInstallation(githubApps, { ...spec, app: 'default', account: { ...spec.account, host } })
    expect((await on('github.com')).appId).toBe(5)
    await expect(on('ghes.example')).rejects.toThrow('is on github.com, and the account is on ghes.example')
  })

  test('sign by a key server where the App names one: its token is read, and a new one replaces the client', async () => {
    const { apps, githubApps, put, putSecret, closed } = fixture()
    put(1, '1')
    const [app] = apps.values()
    if (app === undefined) throw new Error('no App')
    const { privateKeys: _, ...rest } = app.spec
    const transit = { address: 'https://127.0.0.1:9', mount: 'transit', key: 'app', token: { secretName: 'vault', key: 'token' } }
    apps.set('default', { ...app, spec: { ...rest, signer: { transit } } })
    await expect(githubApps.get('default')).rejects.toMatchObject({
      reason: 'PrivateKeyMissing',
      message: 'Secret vault (key token) is missing in namespace sekisho-system: create it',
    })
    closed.add('vault')
    await expect(githubApps.get('default')).rejects.toThrow('the platform may not read Secret vault')
    putSecret('vault', '1', { token: Buffer.from('hvs.one\n').toString('base64') })
    const first = await githubApps.get('default')
    expect((await githubApps.get('default')).client).toBe(first.client)
    putSecret('vault', '2', { token: Buffer.from('hvs.two').toString('base64') })
    expect((await githubApps.get('default')).client).not.toBe(first.client)
  })

  test('need one of two keys, survive status changes, and are replaced when a key changes', async () => {
    const { githubApps, put, putSecret, key } = fixture()
    put(1, '1')
    putSecret('old', '1', key)
    const first = await githubApps.get('default')
    expect(first.endpoints.api).toBe('https://api.github.com')
    put(1, '2')
    expect((await githubApps.get('default')).client).toBe(first.client)
    putSecret('new', '7', key)
    const second = await githubApps.get('default')
    expect(second.client).not.toBe(first.client)
    putSecret('new', '8', key)
    expect((await githubApps.get('default')).client).not.toBe(second.client)
  })

  test('are dropped when the App is deleted', async () => {
    const { apps, githubApps, put, putSecret, key } = fixture()
    put(1, '1')
    putSecret('old', '1', key)
    await githubApps.get('default')
    apps.delete('default')
    await expect(githubApps.get('default')).rejects.toMatchObject({ code: 'not_found' })
  })
})
