// Valid objects of every kind that the attacks write, each with only what the API server requires.
import { followerKinds } from '../../src/api/registry.ts'

export type Body = Readonly<Record<string, unknown>> & { readonly metadata: Readonly<Record<string, unknown>> }

/**
 * An object that exists before the rules; `leaving`: it is also deleted, and kept by its finalizer; `ownedBy`, `controlledBy`:
 * the path of its owner.
 */
export type Existing = {
  readonly path: string
  readonly object: object
  readonly leaving?: boolean
  readonly ownedBy?: string
  readonly controlledBy?: string
}

export const tenantLabel = { 'sekisho.dev/tenant': 'acme' }
/** The range of the tenant's user ids. */
export const firstUser = { 'sekisho.dev/first-user': '1073807360' }

type Texts = Readonly<Record<string, string>>

export const namespace = (name: string, labels: Texts = {}, annotations: Texts = {}): Body => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels, annotations },
})

export const tenant = (name: string): Body => ({
  apiVersion: 'tenancy.sekisho.dev/v1alpha1',
  kind: 'Tenant',
  metadata: { name },
  spec: {
    account: { host: 'github.localhost', id: 2001, login: 'acme', type: 'Organization' },
    namespace: name,
    roles: [{ role: 'admin', subject: { type: 'Owners' } }],
  },
})

export const installation = (metadata: Readonly<Record<string, unknown>>): Body => ({
  apiVersion: 'github.sekisho.dev/v1alpha1',
  kind: 'Installation',
  metadata,
  spec: {
    app: 'default',
    installationId: 7,
    account: { host: 'github.localhost', id: 2001, login: 'acme', type: 'Organization' },
    boundBy: { id: 1001, login: 'olivia' },
    proof: { method: 'OrganizationOwner', provedAt: '2026-01-01T00:00:00Z' },
    ceiling: { repositories: 'All', permissions: { contents: 'read' } },
  },
})

export const repositoryGrant = (name: string, requestedBy?: string, metadata: object = {}): Body => ({
  apiVersion: 'github.sekisho.dev/v1alpha1',
  kind: 'RepositoryGrant',
  metadata: { name, ...metadata },
  spec: {
    installation: 'github',
    repositories: ['acme/shop'],
    permissions: { contents: 'read' },
    subjects: [{ kind: 'ServiceAccount', name: 'deployer' }],
    reason: 'reads the shop',
    ...(requestedBy === undefined ? {} : { requestedBy }),
  },
})

const remoteSync = (name: string, requestedBy?: string, spec: object = {}): Body => ({
  apiVersion: 'apps.sekisho.dev/v1alpha1',
  kind: 'RemoteSync',
  metadata: { name },
  spec: {
    installation: 'github',
    repository: 'acme/shop',
    source: { branch: 'main' },
    build: {},
    application: 'shop',
    ...(requestedBy === undefined ? {} : { requestedBy }),
    ...spec,
  },
})

const appPipeline = (name: string, requestedBy?: string, spec: object = {}): Body => ({
  apiVersion: 'apps.sekisho.dev/v1alpha1',
  kind: 'AppPipeline',
  metadata: { name },
  spec: {
    installation: 'github',
    repository: 'acme/shop',
    template: { application: {} },
    ...(requestedBy === undefined ? {} : { requestedBy }),
    ...spec,
  },
})

/** A kind that follows a repository: where its objects are, a valid object, and two changes of its spec. */
export type Follower = {
  readonly kind: string
  readonly apiVersion: string
  readonly path: string
  readonly object: (name: string, requestedBy?: string, spec?: object) => Body
  readonly change: object
  readonly otherChange: object
}

/** A new kind that follows a repository needs one line here and is included in all rows. */
const followerObjects: Readonly<Record<string, Pick<Follower, 'object' | 'change' | 'otherChange'>>> = {
  RemoteSync: { object: remoteSync, change: { source: { branch: 'next' } }, otherChange: { subPath: 'other' } },
  AppPipeline: { object: appPipeline, change: { limits: { previews: 2 } }, otherChange: { suspend: true } },
}

export const followers: readonly Follower[] = followerKinds.map(({ kind, apiVersion, plural }) => {
  const objects = followerObjects[kind]
  if (!objects) throw new Error(`test/attack/objects.ts needs an object of kind ${kind}`)
  return { kind, apiVersion, path: `/apis/${apiVersion}/namespaces/acme/${plural}`, ...objects }
})

export const secret = (metadata: Readonly<Record<string, unknown>>, more: object = {}): Body => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata,
  data: { token: 'eA==' },
  ...more,
})

/** A Service of port 80; `spec` is merged over what it needs. */
export const service = (metadata: Readonly<Record<string, unknown>>, spec: object = {}): Body => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata,
  spec: { selector: { app: 'x' }, ports: [{ port: 80 }], ...spec },
})

export type PodSpec = Readonly<Record<string, unknown>>
export type Workload = { readonly path: (namespace: string) => string; readonly object: (name: string, spec: PodSpec) => Body }

const template = (spec: PodSpec) => ({ metadata: { labels: { app: 'x' } }, spec })
const selected = { selector: { matchLabels: { app: 'x' } } }
const once = (spec: PodSpec): PodSpec => ({ restartPolicy: 'Never', ...spec })

const workload = (group: string, kind: string, plural: string, specOf: (spec: PodSpec) => object): [string, Workload] => [
  kind,
  {
    path: in_ => `${group === 'v1' ? '/api/v1' : `/apis/${group}`}/namespaces/${in_}/${plural}`,
    object: (name, spec) => ({ apiVersion: group, kind, metadata: { name }, ...specOf(spec) }),
  },
]

/** Every kind with a pod template, and the pod itself. */
export const workloads: ReadonlyMap<string, Workload> = new Map([
  workload('v1', 'Pod', 'pods', spec => ({ spec })),
  workload('v1', 'ReplicationController', 'replicationcontrollers', spec => ({
    spec: { selector: { app: 'x' }, template: template(spec) },
  })),
  workload('v1', 'PodTemplate', 'podtemplates', spec => ({ template: template(spec) })),
  workload('apps/v1', 'Deployment', 'deployments', spec => ({ spec: { ...selected, template: template(spec) } })),
  workload('apps/v1', 'ReplicaSet', 'replicasets', spec => ({ spec: { ...selected, template: template(spec) } })),
  workload('apps/v1', 'StatefulSet', 'statefulsets', spec => ({
    spec: { ...selected, serviceName: 'x', template: template(spec) },
  })),
  workload('apps/v1', 'DaemonSet', 'daemonsets', spec => ({ spec: { ...selected, template: template(spec) } })),
  workload('batch/v1', 'Job', 'jobs', spec => ({ spec: { template: { spec: once(spec) } } })),
  workload('batch/v1', 'CronJob', 'cronjobs', spec => ({
    spec: { schedule: '* * * * *', jobTemplate: { spec: { template: { spec: once(spec) } } } },
  })),
])

/** The spec as Pod Security `restricted` wants it: build namespaces take no other pods. */
export function restricted(spec: PodSpec): PodSpec {
  const containers = spec['containers'] as readonly object[]
  const securityContext = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } }
  return {
    ...spec,
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    containers: containers.map(one => ({ ...one, securityContext })),
  }
}

const container = { name: 'main', image: 'registry.test/x' }
const volume = (source: object): PodSpec => ({ containers: [container], volumes: [{ name: 'v', ...source }] })
const withEnvironment = (more: object) => ({ ...container, name: 'extra', ...more })
const reference = (name: string) => ({ secretRef: { name } })

/** Every way in which a pod can name a Secret (Kubernetes' VisitPodSecretNames). */
export const secretShapes: Readonly<Record<string, (name: string) => PodSpec>> = {
  environment: name => ({
    containers: [withEnvironment({ env: [{ name: 'A', valueFrom: { secretKeyRef: { name, key: 'token' } } }] })],
  }),
  'whole environment': name => ({ containers: [withEnvironment({ envFrom: [reference(name)] })] }),
  'environment of an init container': name => ({
    containers: [container],
    initContainers: [withEnvironment({ env: [{ name: 'A', valueFrom: { secretKeyRef: { name, key: 'token' } } }] })],
  }),
  'whole environment of the second container': name => ({
    containers: [container, withEnvironment({ envFrom: [{ configMapRef: { name: 'c' } }, reference(name)] })],
  }),
  'pull secret': name => ({ containers: [container], imagePullSecrets: [{ name: 'fine' }, { name }] }),
  'secret volume': name => volume({ secret: { secretName: name } }),
  'projected volume': name => volume({ projected: { sources: [{ secret: { name } }] } }),
  csi: name => volume({ csi: { driver: 'driver.test', nodePublishSecretRef: { name } } }),
  flexVolume: name => volume({ flexVolume: { driver: 'a/b', ...reference(name) } }),
  azureFile: name => volume({ azureFile: { secretName: name, shareName: 's' } }),
  cephfs: name => volume({ cephfs: { monitors: ['m'], ...reference(name) } }),
  cinder: name => volume({ cinder: { volumeID: 'v', ...reference(name) } }),
  rbd: name => volume({ rbd: { monitors: ['m'], image: 'i', ...reference(name) } }),
  scaleIO: name => volume({ scaleIO: { gateway: 'g', system: 's', volumeName: 'v', ...reference(name) } }),
  iscsi: name =>
    volume({ iscsi: { targetPortal: '10.0.0.1:3260', iqn: 'iqn.2001-04.com.example:x', lun: 0, ...reference(name) } }),
  storageos: name => volume({ storageos: { volumeName: 'v', ...reference(name) } }),
}

/** An Application of one process. */
export const application = (name: string, spec: object = {}): Body => ({
  apiVersion: 'apps.sekisho.dev/v1alpha1',
  kind: 'Application',
  metadata: { name },
  spec: { processes: [{ name: 'worker' }], ...spec },
})
