// A right that the platform loses while it runs, with the real authorizer: the AppSecret controller as its ServiceAccount, with
// the rules of its shipped role divided among two RoleBindings, of which one is removed and given back.
import { expect, onTestFinished, test } from 'vitest'
import type { AdminClient } from '../../dev/cluster/control-plane/admin-client.ts'
import { type AppSecret, appSecret } from '../../src/api/apps/app-secret.ts'
import { secrets } from '../../src/api/builtin/index.ts'
import { controllersBinding, labels, namespaceRoles, platformNamespace } from '../../src/api/names.ts'
import { createAppSecretController } from '../../src/controllers/app-secret/index.ts'
import { makeOpeningKey, openingKeyOf } from '../../src/identity/sealed-values/open.ts'
import { sealerOf } from '../../src/identity/sealed-values/seal.ts'
import type { SecretKeys } from '../../src/identity/sealed-values/secret-keys.ts'
import { findCondition } from '../../src/kube/object/conditions.ts'
import { createRecordingLog } from '../../src/kube/testing/recording-log.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { SecretString } from '../../src/lib/secret-string.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { readyReason, restrictedTo } from '../fixtures/application-fixture.ts'
import { testAdmin, withNamespace } from '../fixtures/harness.ts'
import { withAdminKube } from '../fixtures/kube-access.ts'
import { type ManagedParts, startManager } from '../fixtures/open-manager.ts'
import { withClientOf } from '../fixtures/process-clients.ts'

type Rule = { readonly apiGroups: readonly string[]; readonly resources: readonly string[]; readonly verbs: readonly string[] }

const rbac = '/apis/rbac.authorization.k8s.io/v1'
const apiGroup = 'rbac.authorization.k8s.io'
const account = 'sekisho-controllers'
const othersBinding = 'others'
const opening = await openingKeyOf(await makeOpeningKey(new Date()))
const keys: SecretKeys = {
  async open(sealed, place) {
    const value = await opening.open(sealed, place)
    return value && { value, isCurrent: true }
  },
  seal: await sealerOf(opening.publicKey),
}

type Place = { readonly admin: AdminClient; readonly namespace: string }

async function mayGetSecrets({ admin, namespace }: Place): Promise<boolean> {
  const resourceAttributes = { namespace, verb: 'get', resource: 'secrets' }
  const spec = { user: `system:serviceaccount:${platformNamespace}:${account}`, resourceAttributes }
  const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec }
  const answer = await admin.call('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', review)
  return (answer as { readonly status: { readonly allowed: boolean } }).status.allowed
}

function authorizerKnows(place: Place, allowed: boolean): Promise<unknown> {
  const asked = async () => ((await mayGetSecrets(place)) === allowed ? true : undefined)
  return waitUntil(`${account} may read Secrets: ${allowed}`, asked)
}

const bindingPath = (namespace: string, name: string): string => `${rbac}/namespaces/${namespace}/rolebindings/${name}`

/** As the Tenant controller makes it, but for the role. */
async function bind({ admin, namespace }: Place, name: string): Promise<void> {
  await admin.apply(bindingPath(namespace, name), {
    apiVersion: `${apiGroup}/v1`,
    kind: 'RoleBinding',
    metadata: { name, namespace, labels: { [labels.tenant]: namespace } },
    roleRef: { apiGroup, kind: 'Role', name },
    subjects: [{ kind: 'ServiceAccount', name: account, namespace: platformNamespace }],
  })
}

async function unbind({ admin, namespace }: Place, name: string): Promise<void> {
  await admin.call('DELETE', bindingPath(namespace, name))
}

/** The rules of the role that the release has, those about Secrets in a Role of their own. */
async function divideRole({ admin, namespace }: Place): Promise<void> {
  const role = await admin.call('GET', `${rbac}/clusterroles/${namespaceRoles.controllersInApplications}`)
  const { rules } = role as { readonly rules: readonly Rule[] }
  const isOfSecrets = ({ resources }: Rule): boolean => resources.includes('secrets')
  const parts = [
    [controllersBinding, rules.filter(isOfSecrets)],
    [othersBinding, rules.filter(rule => !isOfSecrets(rule))],
  ] as const
  for (const [name, part] of parts)
    await admin.apply(`${rbac}/namespaces/${namespace}/roles/${name}`, {
      apiVersion: `${apiGroup}/v1`,
      kind: 'Role',
      metadata: { name, namespace },
      rules: part,
    })
}

async function running() {
  const { name: namespace } = await withNamespace()
  const admin = await testAdmin()
  const place = { admin, namespace }
  await divideRole(place)
  await bind(place, controllersBinding)
  await bind(place, othersBinding)
  await authorizerKnows(place, true)
  const client = await withAdminKube()
  const controllersClient = restrictedTo(await withClientOf(account), namespace)
  const log = createRecordingLog()
  // Ahead of the API server's, so that nothing looks as if it had just been given.
  let ahead = 0
  const clock = { ...systemClock, now: () => new Date(Date.now() + ahead) }
  const controllers = (parts: ManagedParts) => [createAppSecretController({ ...parts, keys, clock })]
  const { stop } = await startManager(controllersClient, controllers, { log })
  onTestFinished(stop)
  const later = (): void => {
    ahead += 60_000
  }
  return { ...place, client, log, later }
}

type Running = Awaited<ReturnType<typeof running>>

async function set({ client, namespace }: Running, value: string): Promise<void> {
  const key = { namespace, name: 'shop' }
  const spec = { sealed: { URL: await keys.seal(new SecretString(value), { ...key, key: 'URL' }) } }
  const { apiVersion, kind } = appSecret
  await client.apply(appSecret, { apiVersion, kind, metadata: key, spec }, { fieldManager: 'test', force: true })
}

const ready = ({ client, namespace }: Running, reason: string): Promise<AppSecret> =>
  readyReason(client, appSecret, { namespace, name: 'shop' }, reason)

async function stored({ client, namespace }: Running): Promise<string> {
  const secret = await client.get(secrets, { namespace, name: 'appsecret-shop' })
  return Buffer.from(secret?.data?.['URL'] ?? '', 'base64').toString('utf8')
}

test('a RoleBinding that is removed is named in the status, and the object goes on when it is back', async () => {
  const on = await running()
  await set(on, 'one')
  await ready(on, 'Stored')
  await unbind(on, controllersBinding)
  await authorizerKnows(on, false)
  on.later()
  await set(on, 'two')
  const refused = await ready(on, 'RightMissing')
  expect(findCondition(refused.status?.conditions, 'Ready')?.message).toBe(
    `the platform lacks the right to get secrets in namespace ${on.namespace}: the controller of the Tenant puts the RoleBinding ${controllersBinding} there back; when its role was changed, a platform admin applies the roles of the platform again (deploy/rbac). See \`kubectl describe rolebinding ${controllersBinding} -n ${on.namespace}\``,
  )
  // What was known stays, and the new generation is not called observed.
  expect(refused.status).toMatchObject({ version: 1, observedGeneration: 1 })
  expect(await stored(on)).toBe('one')

  await bind(on, controllersBinding)
  expect((await ready(on, 'Stored')).status).toMatchObject({ version: 2, observedGeneration: 2 })
  expect(await stored(on)).toBe('two')
})

test('without any right nothing can be said in the status: the log says it, and the object goes on when the rights are back', async () => {
  const on = await running()
  await set(on, 'one')
  const before = await ready(on, 'Stored')
  await unbind(on, controllersBinding)
  await unbind(on, othersBinding)
  await authorizerKnows(on, false)
  on.later()
  await set(on, 'two')
  const said = (): true | undefined =>
    on.log.lines.some(({ message }) => message === 'failed to say in the status that a right is missing') || undefined
  await waitUntil('the log says it', async () => said())
  const after = await on.client.get(appSecret, { namespace: on.namespace, name: 'shop' })
  expect(after?.status).toEqual(before.status)

  await bind(on, othersBinding)
  await bind(on, controllersBinding)
  await ready(on, 'Stored')
  expect(await stored(on)).toBe('two')
})
