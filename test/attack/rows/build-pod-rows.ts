// Attacks by what pods of a build namespace may do on their node. Pod Security does not judge them where Dockerfiles are built.

import type { BuildRequest } from '../../../src/services/builds/builder.ts'
import { type BuildkitSettings, buildkitPod } from '../../../src/services/builds/buildkit/pod-manifest.ts'
import { buildController, clusterAdministrator, controllers, dave, platformAdministrator } from '../identities.ts'
import { type PodSpec, restricted } from '../objects.ts'
import { allowed, expecting, type Row } from './row.ts'

const refused = expecting('build-pods')
/** Root has no place in the tenant's range, nor has the user of a pod that is older than the range. */
const refusedForUser = expecting('build-pods', 'pod-users')
const refusing = (shape: string) => (shape === 'as root' ? refusedForUser : refused)
const pods = '/api/v1/namespaces/acme-build/pods'
const plain = restricted({ containers: [{ name: 'main', image: 'registry.test/x' }] })
const pod = (spec: object) => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec })

type Container = Readonly<Record<string, unknown>> & { readonly name: string }

/** Changes the security context of the one container. */
function inContainer(more: object, container: object = {}): PodSpec {
  const [main] = plain['containers'] as readonly (Container & { readonly securityContext: object })[]
  return { ...plain, containers: [{ ...main, ...container, securityContext: { ...main?.securityContext, ...more } }] }
}

const ofPod = plain['securityContext'] as object

const unrestricted: Readonly<Record<string, object>> = {
  privileged: inContainer({ privileged: true, allowPrivilegeEscalation: true }),
  'with privilege escalation': inContainer({ allowPrivilegeEscalation: true }),
  'with the capabilities of the runtime': inContainer({ capabilities: {} }),
  'with a capability': inContainer({ capabilities: { drop: ['ALL'], add: ['SYS_ADMIN'] } }),
  'with the capabilities of a Dockerfile build': inContainer({ capabilities: { drop: ['ALL'], add: ['SETUID'] } }),
  'without a profile of seccomp': inContainer({ seccompProfile: { type: 'Unconfined' } }),
  'without a profile of AppArmor': inContainer({ appArmorProfile: { type: 'Unconfined' } }),
  'as root': inContainer({ runAsUser: 0, runAsNonRoot: false }),
  'as any user': { ...plain, securityContext: { ...ofPod, runAsNonRoot: false } },
  'with a label of SELinux': { ...plain, securityContext: { ...ofPod, seLinuxOptions: { type: 'spc_t' } } },
  'with a sysctl': { ...plain, securityContext: { ...ofPod, sysctls: [{ name: 'kernel.msgmax', value: '1' }] } },
  'on the network of its node': { ...plain, hostNetwork: true },
  'with the processes of its node': { ...plain, hostPID: true },
  'with a port of its node': inContainer({}, { ports: [{ containerPort: 80, hostPort: 80 }] }),
  'with a folder of its node': { ...plain, volumes: [{ name: 'v', hostPath: { path: '/' } }] },
  'with an unrestricted init container': { ...plain, initContainers: [{ name: 'i', image: 'registry.test/x' }] },
}

const request: BuildRequest = {
  key: { namespace: 'acme-build', name: 'shop-1' },
  owner: { kind: 'RemoteSync', namespace: 'acme', name: 'shop', uid: 'uid-1' },
  application: 'shop',
  strategy: 'Dockerfile',
  resources: {},
  secrets: [],
  attempt: 1,
  source: { url: 'http://sekisho-source/x', commit: 'a'.repeat(40) },
  env: [],
  timeoutSeconds: 600,
}
const settings: BuildkitSettings = {
  registry: 'registry.test/apps',
  image: `registry.test/cnb/buildkit@sha256:${'b'.repeat(64)}`,
  serviceAccount: 'builder',
  credential: 'sekisho-registry-build',
}
const { spec } = buildkitPod(request, settings, true)
const [source, daemon] = spec.initContainers
const daemonWith = (more: object, container: object = {}): object => ({
  ...spec,
  initContainers: [source, { ...daemon, ...container, securityContext: { ...(daemon?.['securityContext'] as object), ...more } }],
})

const otherShapes: Readonly<Record<string, object>> = {
  privileged: daemonWith({ privileged: true }),
  'with another capability': daemonWith({ capabilities: { drop: ['ALL'], add: ['SETUID', 'SYS_ADMIN'] } }),
  'with all capabilities of the runtime': daemonWith({ capabilities: { add: ['SETUID'] } }),
  'as root': daemonWith({ runAsUser: 0, runAsNonRoot: false }),
  'with an image of its own': daemonWith({}, { image: `registry.test/other@sha256:${'c'.repeat(64)}` }),
  'with a token': { ...spec, automountServiceAccountToken: true },
  'with a folder of its node': { ...spec, volumes: [...spec.volumes, { name: 'v', hostPath: { path: '/' } }] },
  'with a projected volume': { ...spec, volumes: [...spec.volumes, { name: 'v', projected: { sources: [] } }] },
  'on the network of its node': { ...spec, hostNetwork: true },
  'with another container': { ...spec, containers: [...spec.containers, { ...daemon, name: 'other', restartPolicy: undefined }] },
  'with the source fetched in the user namespace': {
    ...spec,
    initContainers: [{ ...source, securityContext: daemon?.['securityContext'] }, daemon],
  },
}

/** All containers of the build with one image by tag, which anybody who may push could replace. */
const byTag = JSON.parse(JSON.stringify(spec).replaceAll(settings.image, 'registry.test/cnb/buildkit:1')) as object

export const buildPodRows: readonly Row[] = [
  ...Object.entries(unrestricted).flatMap(([shape, one]) => [
    refusing(shape).post(`a build pod ${shape}`, buildController, pods, pod(one)),
    refusing(shape).post(`a build pod ${shape}, by the platform`, controllers, pods, pod(one)),
  ]),
  ...[buildController, clusterAdministrator, platformAdministrator].map(as =>
    allowed.post(`${as.user} makes a restricted pod in a build namespace`, as, pods, pod(plain)),
  ),
  ...[buildController, clusterAdministrator, platformAdministrator, dave].map(as =>
    refused.post(`${as.user} makes the pod of a Dockerfile build`, as, pods, pod(spec)),
  ),
  ...Object.entries({ ...otherShapes, 'with an image by tag': byTag }).map(([shape, one]) =>
    refusing(shape).post(`the platform makes the pod of a Dockerfile build ${shape}`, controllers, pods, pod(one)),
  ),
  refused.strategicPatch('an admin debugs a build as root', clusterAdministrator, `${pods}/builds/ephemeralcontainers`, {
    spec: { ephemeralContainers: [{ name: 'debug', image: 'registry.test/x', securityContext: { privileged: true } }] },
  }),
  refusedForUser.jsonPatch('an admin gives a build another image', clusterAdministrator, `${pods}/dockerfile`, [
    { op: 'replace', path: '/spec/initContainers/1/image', value: `registry.test/other@sha256:${'c'.repeat(64)}` },
  ]),
  allowed.patch('an admin labels a build', clusterAdministrator, `${pods}/dockerfile`, { metadata: { labels: { team: 'x' } } }),
  allowed.post('the platform makes the pod of a Dockerfile build', controllers, pods, pod(spec)),
]

/** A pod of kpack, and one of a Dockerfile build, that exist before the rules. */
export const buildPodFixtures = [
  { path: pods, object: { ...pod(plain), metadata: { name: 'builds' } } },
  { path: pods, object: { ...pod(spec), metadata: { name: 'dockerfile' } } },
]
