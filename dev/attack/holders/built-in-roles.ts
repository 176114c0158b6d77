// Holders of Kubernetes' built-in roles view, edit and admin in the namespaces of globex, as a cluster administrator may bind
// them although no tenant gets them: RBAC allows them much, so these attacks try what admission has to refuse. What they can
// do, such as read other Secrets there, SECURITY.md says. Connections have no dry run and name pods that do not exist.
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { neighbourNamespace } from '../../demo/context.ts'
import type { Attack } from '../attack.ts'
import { type ApiAttempt, apiAttempts, corePath, groupPath, mergePatch } from '../cluster/api-attempts.ts'
import { podSpec } from '../cluster/mounts.ts'
import { type HolderActor, holderAccounts, holderNamespace } from '../world/actors.ts'
import type { World } from '../world/world.ts'

const rbac = 'rbac.authorization.k8s.io'
const builds = `${neighbourNamespace}-build`
const namespaces = [neighbourNamespace, builds]

/** The ServiceAccount and its role in both namespaces, and in one more. Resolves when RBAC knows of the first. */
export async function bindHolder({ admin, api, journal }: World, actor: HolderActor, ...more: readonly string[]): Promise<void> {
  const { name, role } = holderAccounts[actor]
  const accounts = corePath(holderNamespace, 'serviceaccounts')
  const make = async (collection: string, object: object): Promise<void> => {
    await journal.note({ kind: 'object', path: `${collection}/${name}` })
    const answer = await admin.request('POST', collection, object)
    if (answer.status !== 201 && answer.status !== 409) throw new Error(`${collection}/${name}: ${answer.status}`)
  }
  await make(accounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } })
  for (const namespace of [...namespaces, ...more])
    await make(groupPath(`${rbac}/v1`, namespace, 'rolebindings'), {
      apiVersion: `${rbac}/v1`,
      kind: 'RoleBinding',
      metadata: { name },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: role },
      subjects: [{ kind: 'ServiceAccount', name, namespace: holderNamespace }],
    })
  for (const namespace of namespaces)
    await waitUntil(`${name} holds ${role} in ${namespace}`, async () => {
      const { status } = await api(actor, 'GET', corePath(namespace, 'pods'))
      return status === 200
    })
}

function tokens(as: HolderActor): readonly ApiAttempt[] {
  const json = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 600 } }
  return [
    [neighbourNamespace, 'default'],
    [neighbourNamespace, 'sekisho-isolated'],
    [builds, 'builder'],
    [builds, 'default'],
  ].map(([namespace = '', name]) => ({
    as,
    method: 'POST',
    path: `${corePath(namespace, 'serviceaccounts')}/${name}/token`,
    json,
    dry: true,
  }))
}

function connections(as: HolderActor): readonly ApiAttempt[] {
  const paths = ['exec?command=true&stdout=true', 'attach?stdout=true', 'portforward?ports=8080']
  return [
    ...['POST', 'GET'].flatMap(method =>
      paths.map((path): ApiAttempt => ({ as, method, path: `${corePath(builds, 'pods')}/attack-any/${path}`, connects: true })),
    ),
    { as, method: 'POST', path: `${corePath(neighbourNamespace, 'pods')}/attack-any/attach?stdout=true` },
    {
      as,
      method: 'PATCH',
      path: `${corePath(builds, 'pods')}/attack-any/ephemeralcontainers`,
      json: { spec: { ephemeralContainers: [{ name: 'attack', image: 'x' }] } },
      contentType: mergePatch,
      dry: true,
    },
  ]
}

function handedOn(as: HolderActor): readonly ApiAttempt[] {
  const group = `${rbac}/v1`
  const metadata = { name: 'attack' }
  const { role } = holderAccounts[as]
  const roleRef = { apiGroup: rbac, kind: 'ClusterRole', name: role }
  const subjects = [{ apiGroup: rbac, kind: 'Group', name: 'system:authenticated' }]
  const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }]
  return namespaces.flatMap(namespace => [
    {
      as,
      method: 'POST',
      path: groupPath(group, namespace, 'rolebindings'),
      json: { apiVersion: group, kind: 'RoleBinding', metadata, roleRef, subjects },
      dry: true,
    },
    {
      as,
      method: 'POST',
      path: groupPath(group, namespace, 'roles'),
      json: { apiVersion: group, kind: 'Role', metadata, rules },
      dry: true,
    },
    { as, method: 'DELETE', path: `${groupPath(group, namespace, 'rolebindings')}/sekisho:controllers`, dry: true },
  ])
}

const tokenSecret = 'ghtok-sekisho-app-attack.attack'
const tokenVolume = { volumes: [{ name: 'v', secret: { secretName: tokenSecret } }] }

function ofPlatform(as: HolderActor): readonly ApiAttempt[] {
  const pod = (metadata: object, spec: object): object => ({ apiVersion: 'v1', kind: 'Pod', metadata, spec })
  const mounting = (name: string): object => podSpec('x', {}, { envFrom: [{ secretRef: { name } }] })
  const post = (path: string, json: object): ApiAttempt => ({ as, method: 'POST', path, json, dry: true })
  return [
    ...['ghtok-x', 'sekisho-registry-pull'].map(name =>
      post(corePath(neighbourNamespace, 'pods'), pod({ name: 'attack' }, mounting(name))),
    ),
    // The token of an Application.
    post(corePath(neighbourNamespace, 'pods'), pod({ name: 'attack' }, podSpec('x', tokenVolume))),
    post(corePath(neighbourNamespace, 'serviceaccounts'), {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'attack' },
      imagePullSecrets: [{ name: tokenSecret }],
    }),
    post(corePath(neighbourNamespace, 'secrets'), { apiVersion: 'v1', kind: 'Secret', metadata: { name: tokenSecret } }),
    ...namespaces.map(namespace =>
      post(corePath(namespace, 'pods'), pod({ name: 'attack' }, { ...podSpec('x'), hostPID: true, hostNetwork: true })),
    ),
    ...namespaces.map(namespace =>
      post(groupPath('kpack.io/v1alpha2', namespace, 'builds'), {
        apiVersion: 'kpack.io/v1alpha2',
        kind: 'Build',
        metadata: { name: 'attack' },
        spec: { serviceAccountName: 'builder', tags: ['x'] },
      }),
    ),
    post(groupPath('github.sekisho.dev/v1alpha1', neighbourNamespace, 'installations'), {
      apiVersion: 'github.sekisho.dev/v1alpha1',
      kind: 'Installation',
      metadata: { name: 'attack' },
    }),
    ...[['sekisho-registry-pull', { data: {} }] as const].map(
      ([name, json]): ApiAttempt => ({
        as,
        method: 'PATCH',
        path: `${corePath(neighbourNamespace, 'secrets')}/${name}`,
        json: { ...json, metadata: { labels: { x: 'y' } } },
        contentType: mergePatch,
        dry: true,
      }),
    ),
  ]
}

export const builtInRoleAttacks: readonly Attack[] = [
  {
    name: 'rights/built-in-roles',
    as: 'holders of the built-in view, edit and admin, whom a cluster administrator bound in globex and globex-build',
    against: 'ServiceAccounts, builds, roles and reserved Secrets there',
    tries:
      'Tokens of ServiceAccounts of the platform, connections into builds, roles for everybody, objects of kpack, pods with reserved Secrets or with the token of an Application, or with the processes of their node.',
    expected: ['RBAC', 'admission', 'Pod Security'],
    async attempts(world) {
      const holders = Object.keys(holderAccounts) as HolderActor[]
      for (const holder of holders) await bindHolder(world, holder)
      return apiAttempts(
        world,
        holders.flatMap(as => [...tokens(as), ...connections(as), ...handedOn(as), ...ofPlatform(as)]),
      )
    },
  },
]
