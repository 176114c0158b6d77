// The commands on Applications as a person of a tenant runs them: the program as a process, with the tokens of the tenant roles
// on a real API server and no other right. What needs pods is in the end-to-end tests.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AdminClient } from '../../dev/cluster/control-plane/admin-client.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { type People, startPeople } from '../fixtures/command-line-people.ts'

const tenant = `cli-${process.pid.toString(36)}`
const people = `${tenant}-people`
const image = `registry.example/shop@sha256:${'1'.repeat(64)}`
let world: People
let admin: AdminClient
let folder = ''
const sekisho: People['sekisho'] = (...given) => world.sekisho(...given)

const applicationsPath = `/apis/apps.sekisho.dev/v1alpha1/namespaces/${tenant}/applications`

beforeAll(async () => {
  world = await startPeople(tenant)
  admin = world.admin
  folder = world.folder
  const shop = {
    apiVersion: 'apps.sekisho.dev/v1alpha1',
    kind: 'Application',
    metadata: { name: 'shop' },
    spec: {
      image,
      processes: [
        { name: 'web', port: 3000 },
        { name: 'worker', replicas: 1 },
      ],
    },
  }
  await waitUntil('the kind', () =>
    admin.call('POST', applicationsPath, shop).then(
      () => true,
      () => undefined,
    ),
  )
  await waitUntil('the roles to be in effect', async () => (await sekisho('viewer', 'status')).code === 0)
})

afterAll(() => world?.stop())

async function spec(): Promise<Record<string, unknown>> {
  return ((await admin.call('GET', `${applicationsPath}/shop`)) as { spec: Record<string, unknown> }).spec
}

describe('a developer', () => {
  test('scales a process, and nothing else of the Application changes', async () => {
    const before = await spec()
    expect(await sekisho('developer', 'scale', 'shop', 'worker=2')).toMatchObject({ code: 0, out: 'shop worker: 1 → 2\n' })
    const processes = (before['processes'] as { name: string }[]).map(one =>
      one.name === 'worker' ? { ...one, replicas: 2 } : one,
    )
    expect(await spec()).toEqual({ ...before, processes })
  })

  test('a dry run is judged by the API server, and stores nothing', async () => {
    const before = await spec()
    expect((await sekisho('developer', 'scale', 'shop', 'web=7', '--dry-run')).out).toContain('(dry run)')
    const refused = await sekisho('developer', 'env', 'set', 'shop', `A=${'x'.repeat(100_000)}`, '--dry-run')
    expect(refused).toMatchObject({ code: 2, out: '' })
    expect(refused.err).toMatch(/spec\.env/)
    expect(await spec()).toEqual(before)
  })

  test('sets, lists and removes variables', async () => {
    const set = await sekisho('developer', 'env', 'set', 'shop', 'LOG_LEVEL=debug', 'DATABASE_URL=postgres://u:p@db/x')
    expect(set.code).toBe(0)
    expect(set.err).toContain('DATABASE_URL looks like a secret')
    expect((await sekisho('developer', 'env', 'unset', 'shop', 'DATABASE_URL')).code).toBe(0)
    const listed = await sekisho('developer', 'env', 'list', 'shop', '-o', 'json')
    expect(JSON.parse(listed.out)).toEqual({ env: [{ name: 'LOG_LEVEL', value: 'debug' }], envFrom: [] })
  })

  test('deploys an image, restarts and sees both in the object', async () => {
    const other = `registry.example/shop@sha256:${'2'.repeat(64)}`
    expect((await sekisho('developer', 'deploy', 'shop', '--image', other)).code).toBe(0)
    expect((await sekisho('developer', 'restart', 'shop')).code).toBe(0)
    expect(await spec()).toMatchObject({ image: other, restartedAt: expect.stringMatching(/^\d{4}-/) })
  })

  test('an Application without a release cannot go back, and says so', async () => {
    expect((await sekisho('developer', 'releases', 'shop')).out).toBe('shop has no release yet\n')
    expect((await sekisho('developer', 'rollback', 'shop')).err).toContain('no release has been rolled out yet')
  })

  test('status, ps and why answer for an Application that nobody has looked at', async () => {
    expect((await sekisho('developer', 'status', 'shop')).out).toContain('the platform has not looked at it yet')
    expect((await sekisho('developer', 'ps', 'shop')).out).toContain('no pods of shop run')
    const found = await sekisho('developer', 'why', 'application/shop', '-o', 'yaml')
    expect(found.out).toContain('first:\n  step: application\n')
  })

  test('run takes its Job from the Deployment, which does not exist here', async () => {
    expect((await sekisho('developer', 'run', 'shop', '--', 'true')).err).toContain('runs no process yet')
    const pod = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'web', image }] } }
    const marks = { 'sekisho.dev/application': 'shop', 'sekisho.dev/process': 'web' }
    await admin.call('POST', `/apis/apps/v1/namespaces/${tenant}/deployments`, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'shop-web', labels: marks },
      spec: { replicas: 0, selector: { matchLabels: { a: 'b' } }, template: pod },
    })
    const dry = await sekisho('developer', 'run', '--dry-run', '-o', 'json', 'shop', '--', 'node', 'x.js')
    expect(JSON.parse(dry.out)).toMatchObject({
      kind: 'Job',
      spec: { template: { spec: { containers: [{ image, command: ['node', 'x.js'] }] } } },
    })
    const detached = await sekisho('developer', 'run', '--detach', '-o', 'json', 'shop', 'node', 'x.js')
    const { job } = JSON.parse(detached.out) as { job: string }
    expect(await admin.call('GET', `/apis/batch/v1/namespaces/${tenant}/jobs/${job}`)).toMatchObject({ metadata: { name: job } })
  })

  test('takes over a RemoteSync in the name that the API server gives', async () => {
    const path = `/apis/apps.sekisho.dev/v1alpha1/namespaces/${tenant}/remotesyncs`
    await admin.call('POST', path, {
      apiVersion: 'apps.sekisho.dev/v1alpha1',
      kind: 'RemoteSync',
      metadata: { name: 'main' },
      spec: {
        installation: 'acme',
        repository: 'acme/shop',
        requestedBy: 'github|github.com|7',
        source: { branch: 'main' },
        build: {},
        application: 'shop',
      },
    })
    const taken = await sekisho('developer', 'transfer', 'remotesync/main')
    expect(taken.out).toContain('before: github|github.com|7')
    expect(await admin.call('GET', `${path}/main`)).toMatchObject({
      spec: { requestedBy: `system:serviceaccount:${people}:developer` },
    })
    expect((await sekisho('developer', 'deploy', 'shop', '--image', image)).err).toContain(
      'RemoteSync main builds the image of shop',
    )
  })
})

describe('errors have their cure', () => {
  test('a name that does not exist', async () => {
    const { code, err } = await sekisho('developer', 'status', 'shpo')
    expect(code).toBe(1)
    expect(err).toBe(`sekisho: Application shpo does not exist in ${tenant}; there are shop; did you mean shop?\n`)
  })

  test('a viewer may not write, and learns which role may', async () => {
    const { code, err } = await sekisho('viewer', 'scale', 'shop', 'web=2')
    expect(code).toBe(1)
    expect(err).toContain(`you may not change applications in ${tenant}: it takes the role developer`)
  })

  test('somebody without a role may not read', async () => {
    expect((await sekisho('outsider', 'status')).err).toContain('it takes the role viewer')
  })

  test('a server that does not answer, a context that does not exist, and no kubeconfig', async () => {
    const path = join(folder, 'nowhere.yaml')
    const text = await readFile(join(folder, 'developer.yaml'), 'utf8')
    await writeFile(path, text.replace(/server: .*/, 'server: https://127.0.0.1:1'))
    expect((await sekisho('developer', 'status', '--kubeconfig', path)).err).toContain(
      'https://127.0.0.1:1 does not answer (ECONNREFUSED)',
    )
    expect((await sekisho('developer', 'status', '--context', 'tset')).err).toContain('did you mean test?')
    expect((await sekisho('developer', 'status', '--kubeconfig', join(folder, 'none.yaml'))).err).toContain(
      'run sekisho kubeconfig',
    )
  })

  test('a certificate of another authority', async () => {
    const path = join(folder, 'authority.yaml')
    const text = await readFile(join(folder, 'developer.yaml'), 'utf8')
    await writeFile(path, text.replace(/ *certificate-authority-data: .*\n/, ''))
    expect((await sekisho('developer', 'status', '--kubeconfig', path)).err).toContain(
      'authority that context test does not name',
    )
  })
})
