// A tenant whose pods have a kernel of their own: gVisor, a second runtime of the node. Everything that makes pods for the
// tenant uses it, nothing gets around it, and without the class nothing starts.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { addGvisor, gvisorHandler } from '../../dev/cluster/node/runtime/gvisor.ts'
import { standardErrorProgress } from '../../dev/cluster/progress.ts'
import { readClusterSettings } from '../../dev/cluster/settings.ts'
import { limits } from '../../src/lib/waiting/limits.ts'
import { type Seen, waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { applicationManifest } from './manifests.ts'
import { type Neighbour, openNeighbour } from './neighbour.ts'
import { find, list, read, readyOf, untilReason } from './objects.ts'
import { openPlatform, type Platform } from './platform.ts'
import { type PrivateRegistry, startPrivateRegistry } from './private-registry.ts'
import { requestVersion } from './serving.ts'

const name = 'e2e-kernel'
const secret = `${name}-pull`
const url = `http://${name}.${name}.localhost:8080`
let platform: Platform
let registry: PrivateRegistry
let neighbour: Neighbour
let image = ''

beforeAll(async () => {
  platform = await openPlatform([])
  await addGvisor({ settings: readClusterSettings(), progress: standardErrorProgress() }, platform.admin)
  image = String((await read(platform.admin, 'application/shop')).status?.['image'])
  registry = await startPrivateRegistry(readClusterSettings(), image)
  neighbour = await openNeighbour(platform, name, 999_005)
})
afterAll(async () => {
  await neighbour.end()
  await registry.close()
  await platform.admin.close()
})

async function asAdministrator(args: readonly string[]): Promise<string> {
  const { code, output, errors } = await platform.asAdministrator(args)
  if (code !== 0) throw new Error(errors)
  return output
}

async function manifestFile(object: object): Promise<string> {
  const file = join(platform.stateFolder, `${name}.json`)
  await writeFile(file, JSON.stringify(object))
  return file
}

const apply = async (object: object): Promise<string> => asAdministrator(['apply', '-f', await manifestFile(object)])

/** Why the API server does not create the object. */
async function refusalOf(object: object): Promise<string> {
  const { code, errors } = await platform.asAdministrator(['create', '--dry-run=server', '-f', await manifestFile(object)])
  expect(code).toBe(1)
  return errors
}

const runtimeClass = (className: string, handler: string): object => ({
  apiVersion: 'node.k8s.io/v1',
  kind: 'RuntimeClass',
  metadata: { name: className },
  handler,
})

/** As Pod Security “restricted” wants it. */
const pod = (spec: object): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'around', namespace: neighbour.namespace },
  spec: {
    ...spec,
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [
      {
        name: 'main',
        image: registry.image,
        securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
      },
    ],
  },
})

const choose = (runtimeClass: string | null): Promise<string> =>
  asAdministrator(['patch', 'tenant', name, '--type', 'merge', '-p', JSON.stringify({ spec: { runtimeClass } })])

/** What `/proc/version` says on the node, which is this machine; gVisor says another version. */
const kernelOfNode = await readFile('/proc/version', 'utf8')

/** The kernels of the running pods of the Application, as programs in them see them. */
async function kernels(): Promise<readonly string[]> {
  const pods = await list(platform.admin, 'pod', '', neighbour.namespace)
  const running = pods.filter(
    ({ metadata, status }) => metadata.deletionTimestamp === undefined && status?.['phase'] === 'Running',
  )
  const inPod = (pod: string) => ['exec', '-n', neighbour.namespace, pod, '--', 'cat', '/proc/version']
  return Promise.all(running.map(({ metadata }) => asAdministrator(inPod(metadata.name))))
}

async function annotatedClass(): Promise<unknown> {
  const { spec } = await read(platform.admin, `deployment/${name}-web`, neighbour.namespace)
  const template = spec['template'] as { readonly metadata: { readonly annotations?: Readonly<Record<string, string>> } }
  return template.metadata.annotations?.['sekisho.dev/runtime-class']
}

const untilTenant = (reason: string) => untilReason(platform.admin, `tenant/${name}`, reason)

test('an Application that runs is moved into the kernel of the class that a platform admin chooses, and serves from there', async () => {
  const { host, username, password } = registry
  const { namespace } = neighbour
  const stringData = { '.dockerconfigjson': JSON.stringify({ auths: { [host]: { username, password } } }) }
  const type = 'kubernetes.io/dockerconfigjson'
  await apply({ apiVersion: 'v1', kind: 'Secret', metadata: { name: secret, namespace }, type, stringData })
  const manifest = applicationManifest(name, { image: registry.image, imagePullSecrets: [secret] })
  await apply({ ...manifest, metadata: { name, namespace } })
  const available = async (seen: Seen): Promise<boolean> =>
    seen(readyOf(await find(platform.admin, `application/${name}`, neighbour.namespace))?.reason) === 'Available'
  await waitUntil('the Application to be available', available, { timeoutMilliseconds: limits.build, everyMilliseconds: 500 })
  expect(await kernels()).toEqual([kernelOfNode])

  await choose(gvisorHandler)
  // What the change wakes is there long before anything else would look at the Application again.
  await waitUntil('the class in the annotation', async seen => seen(await annotatedClass()) === gvisorHandler, {
    everyMilliseconds: 250,
  })
  const another = [expect.not.stringContaining(kernelOfNode)]
  await waitUntil(
    'the kernel of gVisor',
    async () => {
      expect(await kernels()).toEqual(another)
      return true
    },
    { timeoutMilliseconds: limits.build, everyMilliseconds: 1000 },
  )
  await waitUntil('the Application to be available', available, { timeoutMilliseconds: limits.rollout, everyMilliseconds: 500 })
  expect(await requestVersion(url)).toMatchObject({ status: 200 })
  expect((await read(platform.admin, `tenant/${name}`)).status).toMatchObject({
    runtimeClasses: { applications: gvisorHandler, isolated: gvisorHandler, builds: gvisorHandler },
  })
})

test('a pod that names another runtime is refused, whoever makes it', async () => {
  const hostKernel = 'e2e-host-kernel'
  await apply(runtimeClass(hostKernel, 'runc'))
  try {
    expect(await refusalOf(pod({ runtimeClassName: hostKernel }))).toContain(
      `runtimeClassName of pods and templates must be ${gvisorHandler}, which the platform chose for this tenant`,
    )
  } finally {
    await asAdministrator(['delete', 'runtimeclass', hostKernel])
  }
})

test('without its RuntimeClass no pod of the tenant starts, the Tenant names field and cure, and what runs goes on', async () => {
  const missing = 'e2e-missing'
  await choose(missing)
  expect((await untilTenant('RuntimeClassNotUsable')).message).toBe(
    `there is no RuntimeClass ${missing}, which spec.runtimeClass names: create it, or name one that \`kubectl get runtimeclasses\` shows`,
  )
  expect(await refusalOf(pod({}))).toContain(`"${missing}" not found`)
  expect(await requestVersion(url)).toMatchObject({ status: 200 })

  await apply(runtimeClass(missing, gvisorHandler))
  try {
    await untilTenant('NamespacesReady')
  } finally {
    await choose(gvisorHandler)
    await untilTenant('NamespacesReady')
    await asAdministrator(['delete', 'runtimeclass', missing])
  }
})
