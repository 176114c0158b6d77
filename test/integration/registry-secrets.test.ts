// The platform's rights on Secrets outside its own namespace, with its real ClusterRole on a real API server: the two names of the tenants'
// registry credentials and nothing else. Policies and webhooks are not installed here: this is what RBAC alone allows.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { type Impersonation, impersonation, type Reply } from '../attack/impersonation.ts'
import { testKubeconfig, waitUntil, withNamespace } from '../fixtures/harness.ts'

type Document = { readonly kind: string; readonly metadata: { readonly name: string }; readonly rules?: readonly object[] }

async function ruleOf(file: string, name: string): Promise<readonly object[]> {
  const text = await readFile(join(import.meta.dirname, '../../deploy/rbac', file), 'utf8')
  const documents = parseAllDocuments(text).map(document => document.toJS() as Document)
  const found = documents.find(({ kind, metadata }) => kind === 'ClusterRole' && metadata.name === name)
  if (found?.rules === undefined) throw new Error(`${file} has no ClusterRole ${name}`)
  return found.rules
}

const identity = (user: string) => ({ user, groups: ['system:authenticated'] })

/** Binds a copy of the ClusterRole to a user of its own, so that the test depends on nothing that others install. */
async function withRole(
  file: string,
  role: string,
): Promise<{ readonly namespace: string; readonly user: string; readonly as: Impersonation['send'] }> {
  const { name: namespace, admin } = await withNamespace()
  const name = `test:${namespace}:${role.replaceAll(':', '-')}`
  const rbac = '/apis/rbac.authorization.k8s.io/v1'
  const apiVersion = 'rbac.authorization.k8s.io/v1'
  await admin.call('POST', `${rbac}/clusterroles`, {
    apiVersion,
    kind: 'ClusterRole',
    metadata: { name },
    rules: await ruleOf(file, role),
  })
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name }
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name }]
  await admin.call('POST', `${rbac}/clusterrolebindings`, {
    apiVersion,
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef,
    subjects,
  })
  const { send, close } = await impersonation(testKubeconfig())
  onTestFinished(async () => {
    await close()
    await admin.call('DELETE', `${rbac}/clusterrolebindings/${name}`)
    await admin.call('DELETE', `${rbac}/clusterroles/${name}`)
  })
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'other', namespace }, stringData: { password: 'canary' } }
  await admin.call('POST', `/api/v1/namespaces/${namespace}/secrets`, secret)
  return { namespace, user: name, as: send }
}

test('the platform makes, reads and watches Secrets of its two names, and no others', async () => {
  const { namespace, user, as } = await withRole('platform.yaml', 'sekisho:platform')
  const path = `/api/v1/namespaces/${namespace}/secrets`
  const call = (method: string, where: string, body?: unknown, type?: string): Promise<Reply> =>
    as(identity(user), { method, path: where, body, type })
  const apply = (name: string): Promise<Reply> => {
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, data: {} }
    return call('PATCH', `${path}/${name}?fieldManager=t&force=true`, secret, 'application/apply-patch+yaml')
  }
  // The authorizer reads roles from a cache, which may be behind.
  await waitUntil('the role counts', async () => ((await apply('sekisho-registry-pull')).status < 300 ? true : undefined), {
    timeoutMilliseconds: 20_000,
  })
  expect((await apply('sekisho-registry-build')).status).toBe(201)
  expect((await call('GET', `${path}/sekisho-registry-build`)).status).toBe(200)
  expect((await call('GET', '/api/v1/secrets?fieldSelector=metadata.name%3Dsekisho-registry-build')).status).toBe(200)

  const created = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'sekisho-registry-build-2', namespace } }
  const refused = await Promise.all([
    apply('other'),
    apply('sekisho-registry-other'),
    apply('sekisho-registry-platform'),
    call('GET', `${path}/other`),
    call('GET', path),
    call('GET', '/api/v1/secrets'),
    call('GET', '/api/v1/secrets?fieldSelector=metadata.name%3Dother'),
    call('GET', '/api/v1/secrets?fieldSelector=metadata.name%21%3Dsekisho-registry-build'),
    call('GET', '/api/v1/secrets?labelSelector=sekisho.dev%2Ftenant'),
    call('POST', path, created),
    call('DELETE', `${path}/other`),
    call('DELETE', `${path}/sekisho-registry-build`),
    call('DELETE', path),
  ])
  expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 403))
  expect(JSON.stringify(refused)).not.toContain('canary')
})

test('kpack’s controller reads the two credentials that it uses, and no others', async () => {
  const { namespace, user, as } = await withRole('kpack.yaml', 'sekisho:kpack-registry')
  const path = `/api/v1/namespaces/${namespace}/secrets`
  const call = (method: string, where: string): Promise<Reply> => as(identity(user), { method, path: where })
  await waitUntil(
    'the role counts',
    async () => ((await call('GET', `${path}/sekisho-registry-build`)).status === 404 ? true : undefined),
    {
      timeoutMilliseconds: 20_000,
    },
  )
  const refused = await Promise.all([
    call('GET', `${path}/other`),
    call('GET', `${path}/sekisho-registry-pull`),
    call('GET', path),
    call('DELETE', `${path}/sekisho-registry-build`),
  ])
  expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 403))
})
