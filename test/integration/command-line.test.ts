// The commands on Applications as a person of a tenant runs them: the program as a process, with the tokens of the tenant roles
// on a real API server and no other right. What needs pods is in the end-to-end tests.
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseAllDocuments, stringify } from 'yaml'
import type { AdminClient, Manifest } from '../../dev/cluster/control-plane/admin-client.ts'
import { readKubeconfig } from '../../dev/cluster/control-plane/kubeconfig.ts'
import { tenantRoles } from '../../src/api/names.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { testAdmin, testKubeconfig } from '../fixtures/harness.ts'

const tenant = `cli-${process.pid.toString(36)}`
const people = `${tenant}-people`
const image = `registry.example/shop@sha256:${'1'.repeat(64)}`
let admin: AdminClient
let folder = ''

type Finished = { readonly code: number; readonly out: string; readonly err: string }

/** Runs the program as the holder of the role. */
function sekisho(role: string, ...args: readonly string[]): Promise<Finished> {
  const env = { HOME: join(folder, role), KUBECONFIG: join(folder, `${role}.yaml`), PATH: process.env['PATH'] ?? '' }
  return new Promise(resolve => {
    execFile(process.execPath, ['src/cli/main.ts', ...args], { env, timeout: 50_000 }, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), out, err }),
    )
  })
}

async function makePerson(role: string, clusterRole: string | undefined): Promise<void> {
  const accounts = `/api/v1/namespaces/${people}/serviceaccounts`
  await admin.call('POST', accounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: role } })
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 3600 } }
  const issued = (await admin.call('POST', `${accounts}/${role}/token`, request)) as { status: { token: string } }
  const { server, certificateAuthority = '' } = await readKubeconfig(testKubeconfig())
  const cluster = { server, 'certificate-authority-data': Buffer.from(certificateAuthority).toString('base64') }
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    clusters: [{ name: 'test', cluster }],
    users: [{ name: 'test', user: { token: issued.status.token } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test', namespace: tenant } }],
  }
  await writeFile(join(folder, `${role}.yaml`), stringify(config))
  if (clusterRole === undefined) return
  await admin.call('POST', `/apis/rbac.authorization.k8s.io/v1/namespaces/${tenant}/rolebindings`, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: role },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: clusterRole },
    subjects: [{ kind: 'ServiceAccount', namespace: people, name: role }],
  })
}

async function applyAll(file: string, pathOf: (name: string) => string): Promise<void> {
  for (const document of parseAllDocuments(await readFile(join(import.meta.dirname, '../..', file), 'utf8'))) {
    const object = document.toJS() as Manifest
    await admin.apply(pathOf(String(object.metadata['name'])), object)
  }
}

const applicationsPath = `/apis/apps.sekisho.dev/v1alpha1/namespaces/${tenant}/applications`

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sekisho-command-line-'))
  admin = await testAdmin()
  await applyAll('deploy/rbac/tenant-roles.yaml', name => `/apis/rbac.authorization.k8s.io/v1/clusterroles/${name}`)
  for (const name of [tenant, people])
    await admin.call('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  await makePerson('developer', tenantRoles.developer)
  await makePerson('viewer', tenantRoles.viewer)
  await makePerson('outsider', undefined)
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

afterAll(async () => {
  for (const name of [tenant, people]) await admin.call('DELETE', `/api/v1/namespaces/${name}`)
  await rm(folder, { recursive: true, force: true })
})

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
