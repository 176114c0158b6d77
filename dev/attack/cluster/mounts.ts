// Reads of reserved Secrets through pods: what a pod mounts, its owner can print. All shapes of references, in all kinds that
// make pods.
import { neighbourNamespace } from '../../demo/context.ts'
import type { Attack } from '../attack.ts'
import type { World } from '../world/world.ts'
import { type ApiAttempt, apiAttempts, corePath, groupPath } from './api-attempts.ts'

type PodSpec = Readonly<Record<string, unknown>>

const security = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } }

export function podSpec(image: string, more: PodSpec = {}, container: PodSpec = {}): PodSpec {
  return {
    restartPolicy: 'Never',
    automountServiceAccountToken: false,
    securityContext: { runAsNonRoot: true, runAsUser: 1001, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [
      {
        name: 'main',
        image,
        command: ['/usr/local/bin/node', '-e', '0'],
        resources: { requests: { cpu: '10m', memory: '32Mi' }, limits: { memory: '64Mi' } },
        securityContext: security,
        ...container,
      },
    ],
    ...more,
  }
}

/** The first id above those of images, one below all ranges of tenants, and the last of the last range. */
const usersOfOthers = [65_536, 999_999_999, 2 ** 31 - 1]

/** Every field of a pod that names a Secret, by what it is called. */
function references(image: string, secret: string): readonly (readonly [string, PodSpec])[] {
  const volume = (source: object): PodSpec => podSpec(image, { volumes: [{ name: 'v', ...source }] })
  const init = { name: 'init', image, securityContext: security, envFrom: [{ secretRef: { name: secret } }] }
  return [
    ['a volume', volume({ secret: { secretName: secret } })],
    ['an optional volume', volume({ secret: { secretName: secret, optional: true } })],
    ['a projected volume', volume({ projected: { sources: [{ secret: { name: secret } }] } })],
    [
      'an environment variable',
      podSpec(image, {}, { env: [{ name: 'X', valueFrom: { secretKeyRef: { name: secret, key: 'x' } } }] }),
    ],
    ['envFrom', podSpec(image, {}, { envFrom: [{ secretRef: { name: secret } }] })],
    ['an init container', podSpec(image, { initContainers: [init] })],
    ['a pull secret', podSpec(image, { imagePullSecrets: [{ name: secret }] })],
    ['a CSI volume', volume({ csi: { driver: 'x.example', nodePublishSecretRef: { name: secret } } })],
    ['a flex volume', volume({ flexVolume: { driver: 'x/y', secretRef: { name: secret } } })],
    ['an Azure file', volume({ azureFile: { secretName: secret, shareName: 's' } })],
    [
      'an iSCSI volume',
      volume({ iscsi: { targetPortal: '1.2.3.4', iqn: 'iqn.2001-04.com.example:x', lun: 0, secretRef: { name: secret } } }),
    ],
    ['a CephFS volume', volume({ cephfs: { monitors: ['1.2.3.4'], secretRef: { name: secret } } })],
    ['an RBD volume', volume({ rbd: { monitors: ['1.2.3.4'], image: 'x', secretRef: { name: secret } } })],
  ]
}

const apps = (resource: string): string => groupPath('apps/v1', neighbourNamespace, resource)
const batch = (resource: string): string => groupPath('batch/v1', neighbourNamespace, resource)

/** Kinds whose controllers make pods from a template, as gary may create them: what it is, its collection, and the object. */
export function templates(spec: PodSpec): readonly (readonly [string, string, object])[] {
  const labels = { app: 'attack' }
  const template = { metadata: { labels }, spec: { ...spec, restartPolicy: 'Always' } }
  const once = { metadata: { labels }, spec }
  const selector = { matchLabels: labels }
  const named = (apiVersion: string, kind: string, more: object): object => ({
    apiVersion,
    kind,
    metadata: { name: 'attack-mount' },
    spec: more,
  })
  return [
    ['Deployment', apps('deployments'), named('apps/v1', 'Deployment', { replicas: 0, selector, template })],
    ['StatefulSet', apps('statefulsets'), named('apps/v1', 'StatefulSet', { replicas: 0, serviceName: 'x', selector, template })],
    ['Job', batch('jobs'), named('batch/v1', 'Job', { suspend: true, template: once })],
    [
      'CronJob',
      batch('cronjobs'),
      named('batch/v1', 'CronJob', { suspend: true, schedule: '0 0 1 1 *', jobTemplate: { spec: { template: once } } }),
    ],
  ]
}

const pods = corePath(neighbourNamespace, 'pods')

function podAttempt(what: string, spec: PodSpec, metadata: object = { name: 'attack-mount' }): ApiAttempt {
  return {
    as: 'gary',
    method: 'POST',
    path: pods,
    json: { apiVersion: 'v1', kind: 'Pod', metadata, spec },
    name: what,
    dry: true,
  }
}

async function mounts(world: World, secret: string): Promise<readonly ApiAttempt[]> {
  const image = await world.ownImage()
  const shapes = references(image, secret)
  const [[, simple]] = shapes as [readonly [string, PodSpec]]
  return [
    ...shapes.map(([what, spec]) => podAttempt(`Pod with ${secret} as ${what}`, spec)),
    podAttempt(`Pod with a generated name and ${secret}`, simple, { generateName: 'attack-' }),
    ...templates(simple).map(
      ([kind, path, json]): ApiAttempt => ({ as: 'gary', method: 'POST', path, json, name: `${kind} with ${secret}`, dry: true }),
    ),
  ]
}

/** Volume types outside of the restricted standard are stopped by Pod Security as well, whichever looks first. */
const expected = ['admission', 'Pod Security', 'schema'] as const

export const mountAttacks: readonly Attack[] = [
  {
    name: 'mounts/tokens',
    as: 'gary, admin of globex',
    against: 'reserved Secrets for tokens (ghtok-…)',
    tries:
      'Pods and pod templates that mount, name or project the token of an Application in each of the fields that Kubernetes reads.',
    expected,
    attempts: async world => apiAttempts(world, await mounts(world, 'ghtok-sekisho-app-attack.attack')),
  },
  {
    name: 'mounts/registry-credentials',
    as: 'gary, admin of globex',
    against: 'the registry credentials of the platform (sekisho-registry-…)',
    tries:
      'Pods and pod templates that mount, name or project a registry credential in each of the fields that Kubernetes reads.',
    expected,
    attempts: async world => {
      const all = await mounts(world, 'sekisho-registry-pull')
      // As a pull secret it shows nothing to the pod: the kubelet sends it to its own registry only.
      return apiAttempts(
        world,
        all.filter(({ name }) => !name?.includes('pull secret')),
      )
    },
  },
  {
    name: 'mounts/hosts',
    as: 'gary, admin of globex',
    against: 'the node',
    tries: 'Pods that request the host: paths, namespaces, ports, privileges, capabilities, the runtime’s socket.',
    expected: ['Pod Security'],
    attempts: async world => {
      const image = await world.ownImage()
      const host = (path: string): PodSpec => podSpec(image, { volumes: [{ name: 'v', hostPath: { path } }] })
      return apiAttempts(world, [
        ...['/', '/var/lib/kubelet/pods', '/run/containerd', '/etc/kubernetes', '/var/lib/etcd'].map(path =>
          podAttempt(`Pod with the host’s ${path}`, host(path)),
        ),
        ...['hostPID', 'hostIPC', 'hostNetwork'].map(field => podAttempt(`Pod with ${field}`, podSpec(image, { [field]: true }))),
        podAttempt('privileged Pod', podSpec(image, {}, { securityContext: { privileged: true } })),
        podAttempt('Pod as root', podSpec(image, { securityContext: { runAsUser: 0, runAsNonRoot: false } })),
        podAttempt(
          'Pod with SYS_ADMIN',
          podSpec(image, {}, { securityContext: { ...security, capabilities: { add: ['SYS_ADMIN'] } } }),
        ),
        podAttempt('Pod with a host port', podSpec(image, {}, { ports: [{ containerPort: 9, hostPort: 9 }] })),
        podAttempt('Pod that may gain privileges', podSpec(image, {}, { securityContext: { allowPrivilegeEscalation: true } })),
      ])
    },
  },
  {
    name: 'mounts/users',
    as: 'gary, admin of globex',
    against: 'the limits that the kernel of a node counts by user: epoll watches, inotify instances, pending signals',
    tries:
      'Pods under ids of the node and of other ranges, in the pod and in each kind of container, and in user namespaces, which share such limits with root.',
    expected: ['admission'],
    attempts: async world => {
      const image = await world.ownImage()
      const as = (runAsUser: number): PodSpec => ({ securityContext: { ...security, runAsUser } })
      const other = (runAsUser: number): PodSpec => ({ name: 'other', image, ...as(runAsUser) })
      const { containers } = podSpec(image) as { readonly containers: readonly object[] }
      return apiAttempts(world, [
        ...usersOfOthers.flatMap(user => [
          podAttempt(`Pod with a container of user ${user}`, podSpec(image, {}, as(user))),
          podAttempt(`Pod with a second container of user ${user}`, podSpec(image, { containers: [...containers, other(user)] })),
          podAttempt(`Pod with an init container of user ${user}`, podSpec(image, { initContainers: [other(user)] })),
        ]),
        podAttempt('Pod in a user namespace', podSpec(image, { hostUsers: false })),
      ])
    },
  },
  {
    name: 'mounts/secret-kinds',
    as: 'gary, admin of globex',
    against: 'ServiceAccounts and controllers that choose Secrets by name, type or annotation',
    tries:
      'Secrets under reserved names, of the type that Kubernetes fills with a ServiceAccount’s token, and with annotations that controllers obey.',
    expected: ['admission'],
    peer: 'External Secrets CVE-2026-42876, kpack credentials in the build pod',
    attempts: world => {
      const secret = (what: string, metadata: object, more: object = {}): ApiAttempt => ({
        as: 'gary',
        method: 'POST',
        path: corePath(neighbourNamespace, 'secrets'),
        json: { apiVersion: 'v1', kind: 'Secret', metadata, stringData: { x: 'y' }, ...more },
        name: what,
        dry: true,
      })
      const forAccount = { name: 'attack-sa', annotations: { 'kubernetes.io/service-account.name': 'default' } }
      return apiAttempts(world, [
        secret('Secret ghtok-attack', { name: 'ghtok-attack' }),
        secret('Secret with the generated name ghtok-…', { generateName: 'ghtok-' }),
        secret('Secret sekisho-registry-pull', { name: 'sekisho-registry-pull' }),
        secret('Secret with the generated name sekisho-registry-…', { generateName: 'sekisho-registry-' }),
        secret('Secret with a ServiceAccount’s token', forAccount, {
          type: 'kubernetes.io/service-account-token',
          stringData: {},
        }),
        secret('Secret annotated for a ServiceAccount', forAccount),
        secret(
          'Secret annotated for kpack',
          { name: 'attack-kpack', annotations: { 'kpack.io/git': 'https://github.com' } },
          { type: 'kubernetes.io/basic-auth', stringData: { username: 'x', password: 'y' } },
        ),
        secret('Secret annotated for kpack’s registry', {
          name: 'attack-kpack',
          annotations: { 'kpack.io/docker': 'https://index.docker.io/v1/' },
        }),
        secret('Secret annotated for Tekton', {
          name: 'attack-tekton',
          annotations: { 'tekton.dev/git-0': 'https://github.com' },
        }),
      ])
    },
  },
]
