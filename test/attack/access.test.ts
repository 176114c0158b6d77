// What guards access where the matrix cannot see it: connections, which have no dry run, and tokens of ServiceAccounts that
// grants name, which only a policy can judge.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Manifest, policyFiles } from '../../src/admission/policies.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { admissionPath } from '../fixtures/policies.ts'
import { type AttackCluster, startAttackCluster } from './attack-cluster.ts'
import { createFixtures } from './fixtures.ts'
import { clusterAdministrator, dave, impostor, platformAdministrator } from './identities.ts'
import type { Reply } from './impersonation.ts'
import { buildConnectionRefusals, tokenOf, tokenRequest } from './rows/access-rows.ts'

let cluster: AttackCluster
beforeAll(async () => {
  cluster = await startAttackCluster({ name: 'access-cluster' })
  await createFixtures(cluster)
})
afterAll(() => cluster?.stop())

async function install(rule: string): Promise<void> {
  const manifests: readonly Manifest[] = policyFiles().get(`${rule}.yaml`) ?? []
  expect(manifests.map(({ kind }) => kind)).toEqual(['ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding'])
  for (const manifest of manifests) await cluster.admin.apply(admissionPath(manifest), manifest)
}

const by = (rule: string): unknown => [403, expect.stringContaining(`'sekisho-${rule}'`)]
const judged = ({ status, message }: Reply): unknown => [status, message]

test('nobody but platform admins connects into a build namespace', async () => {
  const send = (as: typeof dave, path: string, method = 'POST') => cluster.as(as, method, path)
  const [first] = buildConnectionRefusals
  if (first === undefined) return expect.fail('there are no connections')
  for (const [as, path] of buildConnectionRefusals) expect((await send(as, path)).message, path).not.toContain('sekisho-')
  await install('build-connections')
  await waitUntil('connections are refused', async () => (await send(...first)).message.includes('sekisho-build-connections'))
  for (const [as, path] of buildConnectionRefusals)
    for (const method of ['POST', 'GET'])
      expect(judged(await send(as, path, method)), `${method} ${path}`).toEqual(by('build-connections'))
  for (const as of [clusterAdministrator, platformAdministrator])
    for (const [, path] of buildConnectionRefusals) expect((await send(as, path)).message, path).not.toContain('sekisho-')
  const elsewhere = first[1].replace('acme-build', 'acme').replace('builds', 'runner')
  expect((await send(dave, elsewhere)).message).toContain('does not have a host assigned')
})

test('a platform admin who is no admin of the tenant approves by break-glass alone, and may deny', async () => {
  const apiVersion = 'rbac.authorization.k8s.io/v1'
  const [name, apiGroup] = ['attack-answers', 'rbac.authorization.k8s.io']
  const rules = [{ apiGroups: ['github.sekisho.dev'], resources: ['grantapprovals'], verbs: ['create'] }]
  const rbac = `/apis/${apiVersion}`
  await cluster.admin.call('POST', `${rbac}/clusterroles`, { apiVersion, kind: 'ClusterRole', metadata: { name }, rules })
  await cluster.admin.call('POST', `${rbac}/clusterrolebindings`, {
    ...{ apiVersion, kind: 'ClusterRoleBinding', metadata: { name } },
    ...{ subjects: [{ apiGroup, kind: 'Group', name }], roleRef: { apiGroup, kind: 'ClusterRole', name } },
  })
  const answers = '/apis/github.sekisho.dev/v1alpha1/namespaces/acme/grantapprovals?dryRun=All'
  const send = (as: typeof dave, spec: object = {}) =>
    cluster.as(as, 'POST', answers, {
      apiVersion: 'github.sekisho.dev/v1alpha1',
      kind: 'GrantApproval',
      metadata: { generateName: 'answer-' },
      spec: { grant: { name: 'held', uid: 'u' }, answer: 'Approve', reason: 'fine', requestedBy: as.user, ...spec },
    })
  const administrator = { user: platformAdministrator.user, groups: [name] }
  const adminOfTenant = { user: dave.user, groups: [name] }
  await waitUntil('the role to hold', async () => (await send(administrator)).status === 201)
  await install('administrators-approvals')
  await waitUntil('the approval is refused', async () => (await send(administrator)).status === 403)
  expect(judged(await send(administrator))).toEqual(by('administrators-approvals'))
  expect((await send(administrator)).message).toContain('--break-glass')
  expect((await send(administrator, { breakGlass: true, lifetimeSeconds: 600 })).status).toBe(201)
  expect((await send(administrator, { answer: 'Deny' })).status).toBe(201)
  expect((await send(adminOfTenant)).status).toBe(201)
  // Who has `approve` there is an admin of the tenant as well.
  expect((await send(platformAdministrator)).status).toBe(201)
})

test('while a grant names a ServiceAccount, only kubelets and platform admins get its tokens', async () => {
  const ask = (as: typeof dave, name = 'deployer') => cluster.as(as, 'POST', `${tokenOf('acme', name)}?dryRun=All`, tokenRequest)
  expect((await ask(dave)).status).toBe(201)
  await install('granted-account-tokens')
  await waitUntil('tokens are refused', async () => (await ask(dave)).status === 403)
  for (const as of [dave, impostor]) expect(judged(await ask(as))).toEqual(by('granted-account-tokens'))
  expect((await ask(dave)).message).toContain('delete the grant, or use another ServiceAccount')
  const kubelet = { user: 'system:node:n1', groups: dave.groups }
  for (const as of [kubelet, clusterAdministrator, platformAdministrator]) expect((await ask(as)).status).toBe(201)
  expect((await ask(dave, 'worker')).status).toBe(201)
  const grants = '/apis/github.sekisho.dev/v1alpha1/namespaces/acme/repositorygrants'
  const { items } = (await cluster.admin.call('GET', grants)) as {
    readonly items: readonly { readonly metadata: { name: string } }[]
  }
  for (const { metadata } of items)
    await cluster.admin.call(
      'PATCH',
      `${grants}/${metadata.name}/status`,
      { status: { decision: 'Denied' } },
      'application/merge-patch+json',
    )
  await waitUntil('a grant that was denied counts no more', async () => (await ask(dave)).status === 201)
})
