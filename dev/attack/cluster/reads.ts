// What the roles of a tenant, of another tenant, and no role at all must not reach through the API server: pods and their
// inside, identities, rights, the cluster itself, and everything of others. Each with the actor's own credential.
import { neighbourNamespace, tenantNamespace } from '../../demo/context.ts'
import type { Attack } from '../attack.ts'
import type { Actor } from '../world/actors.ts'
import { platformNamespace } from '../world/targets.ts'
import { type ApiAttempt, apiAttempts, corePath, groupPath, mergePatch } from './api-attempts.ts'

const others = [
  tenantNamespace,
  `${tenantNamespace}-build`,
  `${neighbourNamespace}-build`,
  platformNamespace,
  'kpack',
  'kube-system',
]

const get = (as: Actor, path: string): ApiAttempt => ({ as, method: 'GET', path })

/** Resources of a namespace that show what its owner does. */
function contents(as: Actor, namespace: string): readonly ApiAttempt[] {
  return [
    ...['pods', 'configmaps', 'events', 'services', 'serviceaccounts', 'persistentvolumeclaims'].map(name =>
      get(as, corePath(namespace, name)),
    ),
    get(as, groupPath('apps/v1', namespace, 'deployments')),
    get(as, groupPath('apps.sekisho.dev/v1alpha1', namespace, 'applications')),
    get(as, groupPath('apps.sekisho.dev/v1alpha1', namespace, 'remotesyncs')),
    get(as, groupPath('github.sekisho.dev/v1alpha1', namespace, 'repositorygrants')),
    get(as, groupPath('github.sekisho.dev/v1alpha1', namespace, 'installations')),
    get(as, groupPath('kpack.io/v1alpha2', namespace, 'builds')),
  ]
}

const clusterLists = [
  '/api/v1/pods',
  '/api/v1/configmaps',
  '/api/v1/events',
  '/api/v1/namespaces',
  '/api/v1/nodes',
  '/api/v1/persistentvolumes',
  '/apis/apps.sekisho.dev/v1alpha1/applications',
  '/apis/apps.sekisho.dev/v1alpha1/applications?watch=true&timeoutSeconds=1',
  '/apis/github.sekisho.dev/v1alpha1/repositorygrants',
  '/apis/github.sekisho.dev/v1alpha1/clustergithubapps',
  '/apis/services.sekisho.dev/v1alpha1/serviceinstances',
  '/apis/services.sekisho.dev/v1alpha1/buckets',
  '/apis/services.sekisho.dev/v1alpha1/servicebindings',
  '/apis/tenancy.sekisho.dev/v1alpha1/tenants',
  '/apis/tenancy.sekisho.dev/v1alpha1/domainclaims',
  '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
  '/apis/certificates.k8s.io/v1/certificatesigningrequests',
  '/apis/storage.k8s.io/v1/volumeattachments',
  '/metrics',
  '/logs/',
  '/debug/pprof/',
  '/configz',
]

/** `alg: none`, an unknown key, and a text. */
const forgedTokens: readonly (readonly [string, string])[] = [
  ['without a signature', unsigned({ alg: 'none' })],
  ['signed with the public key as a secret', `${unsigned({ alg: 'HS256', kid: 'x' })}c2ln`],
  ['that names a key at another address', `${unsigned({ alg: 'RS256', jku: 'http://attacker.example/jwks' })}c2ln`],
  ['that is a text', 'system:admin'],
]

function unsigned(header: object): string {
  const claims = { iss: 'https://10.88.0.1:8443', aud: 'kubernetes', sub: 'github|github.localhost|1001', exp: 4_102_444_800 }
  return `${[header, claims].map(part => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')}.`
}

/** Developers and admins may run commands in pods of their own tenant, and attach to their own: exec.ts has what is refused. */
const mayExec = (as: Actor, namespace: string): boolean =>
  (as === 'gary' && namespace === neighbourNamespace) || (as === 'dave' && namespace === tenantNamespace)

/** Into a pod: every subresource that reaches its inside. */
function insideOf(as: Actor, namespace: string, pod: string): readonly ApiAttempt[] {
  const path = `${corePath(namespace, 'pods')}/${pod}`
  const execs: readonly ApiAttempt[] = [
    { as, method: 'POST', path: `${path}/exec?command=true&stdout=true`, dry: true },
    { as, method: 'GET', path: `${path}/exec?command=true&stdout=true` },
    { as, method: 'POST', path: `${path}/attach?stdout=true`, dry: true },
  ]
  const debug = { spec: { ephemeralContainers: [{ name: 'debug', image: 'x', envFrom: [{ secretRef: { name: 'any' } }] }] } }
  return [
    ...(mayExec(as, namespace) ? [] : execs),
    { as, method: 'POST', path: `${path}/portforward?ports=3000`, dry: true },
    { as, method: 'GET', path: `${path}/proxy/` },
    { as, method: 'POST', path: `${path}/proxy/`, dry: true },
    { as, method: 'PATCH', path: `${path}/ephemeralcontainers`, json: debug, contentType: mergePatch, dry: true },
    { as, method: 'PATCH', path: `${path}/resize`, json: {}, contentType: mergePatch, dry: true },
    { as, method: 'PATCH', path: `${path}/status`, json: {}, contentType: mergePatch, dry: true },
    {
      as,
      method: 'POST',
      path: `${path}/eviction`,
      json: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: pod } },
      dry: true,
    },
  ]
}

const roles: readonly (readonly [Actor, string, readonly string[]])[] = [
  ['gary', 'gary, admin of globex', others],
  ['dave', 'dave, developer of acme', others.filter(namespace => namespace !== tenantNamespace).concat(neighbourNamespace)],
  ['mia', 'mia, viewer of acme', [platformNamespace, `${tenantNamespace}-build`, neighbourNamespace]],
  ['workload', 'a ServiceAccount of globex', [neighbourNamespace, tenantNamespace, platformNamespace]],
  ['noah', 'noah, who belongs to no tenant', [tenantNamespace, platformNamespace]],
]

const lists: readonly Attack[] = roles.map(([as, who, namespaces]) => ({
  name: `reads/others-as-${as}`,
  as: who,
  against: `what is in ${namespaces.join(', ')}, and lists of the whole cluster`,
  tries: 'Lists of every kind in the namespaces of others, lists over all namespaces, and the API server’s own debug paths.',
  // Who belongs to no tenant gets no ID token in the first place.
  expected: as === 'noah' ? ['RBAC', 'broker'] : ['RBAC'],
  attempts: world =>
    apiAttempts(world, [...namespaces.flatMap(namespace => contents(as, namespace)), ...clusterLists.map(path => get(as, path))]),
}))

export const readAttacks: readonly Attack[] = [
  ...lists,
  {
    name: 'reads/as-stranger',
    as: 'a client without a credential',
    against: 'the API server',
    tries: 'The same lists without a credential, and with tokens that were never issued.',
    expected: ['authentication', 'RBAC'],
    attempts: world =>
      apiAttempts(world, [
        ...contents('stranger', tenantNamespace),
        ...clusterLists.map(path => get('stranger', path)),
        ...forgedTokens.map(
          ([name, token]): ApiAttempt => ({
            as: 'stranger',
            method: 'GET',
            path: '/api/v1/namespaces',
            headers: { authorization: `Bearer ${token}` },
            name: `token ${name}`,
          }),
        ),
      ]),
  },
  {
    name: 'reads/inside-pods',
    as: 'gary, admin of globex, dave, developer of acme, and a ServiceAccount of globex',
    against: 'the inside of pods, of others and of their own tenant',
    tries: 'exec, attach, port-forward, proxy, debug containers, resize, status and eviction of pods; proxies of Services.',
    expected: ['RBAC'],
    attempts: ({ targets, ...world }) => {
      const [platform] = targets.platformPods
      const { pod, service } = targets.victim
      const places: readonly (readonly [Actor, string, string])[] = [
        ['gary', pod.namespace, pod.name],
        ['gary', platform?.namespace ?? platformNamespace, platform?.name ?? 'sekisho'],
        ['gary', neighbourNamespace, 'site'],
        ['dave', pod.namespace, pod.name],
        ['workload', pod.namespace, pod.name],
        ['workload', neighbourNamespace, 'site'],
      ]
      const proxies = ['gary', 'workload'].map(
        (as): ApiAttempt => get(as as Actor, `${corePath(service.namespace, 'services')}/${service.name}:80/proxy/`),
      )
      return apiAttempts({ targets, ...world }, [
        ...places.flatMap(([as, namespace, name]) => insideOf(as, namespace, name)),
        ...proxies,
        get('gary', `${corePath(pod.namespace, 'pods')}/${pod.name}/log`),
        get('gary', `${corePath(platformNamespace, 'pods')}/${platform?.name ?? 'sekisho'}/log`),
      ])
    },
  },
]
