// Dockerfiles of a tenant, built in the cluster: from a push to the URL, with the commit proven; and what code in RUN reaches
// and reads. The tests depend on each other only by the branch.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ClusterSettings, readClusterSettings, tenantRegistry } from '../../dev/cluster/settings.ts'
import { limits } from '../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { type Branch, openBranch } from './branch.ts'
import { applicationManifest, remoteSyncManifest } from './manifests.ts'
import { list, read, readyOf } from './objects.ts'
import { openPlatform, type Platform } from './platform.ts'
import { requestVersion } from './serving.ts'

const name = 'e2e-dockerfile'
const remoteSync = `remotesync/${name}`
const application = `application/${name}`
const url = `http://${name}.acme.localhost:8080`

const from = ['ARG BASE', 'FROM $BASE', 'WORKDIR /app', 'COPY . .']

let settings: ClusterSettings
let platform: Platform
let branch: Branch
let base = ''

/** What the Dockerfiles ask for that no build may have, and what the message of the refusal says. */
const refusals: readonly { readonly what: string; readonly lines: readonly string[]; readonly message: RegExp }[] = [
  {
    what: 'an image of another tenant',
    lines: ['ARG BASE', 'FROM $BASE', 'COPY --from=REGISTRY/globex/shop:latest / /x'],
    message: /does not let this build read/,
  },
  { what: 'more rights', lines: [...from, 'RUN --security=insecure id'], message: /not allowed/ },
  { what: 'the network of its node', lines: [...from, 'RUN --network=host id'], message: /not allowed/ },
  { what: 'a file that is not there', lines: [...from, 'COPY nothing.here /x'], message: /nothing\.here/ },
]
const refusedName = (index: number): string => `${name}-refused-${index}`
const everything = [
  ...[remoteSync, application],
  ...refusals.flatMap((_, index) => [`remotesync/${refusedName(index)}`, `application/${refusedName(index)}`]),
]

beforeAll(async () => {
  settings = readClusterSettings()
  platform = await openPlatform(['dave'])
  await platform.remove(everything)
  branch = await openBranch(platform.world, name)
  base = `${tenantRegistry(settings).split('/')[0]}/cnb/run:1`
})

afterAll(async () => {
  await platform.remove(everything)
  await platform.admin.close()
})

/** An Application and a RemoteSync that follows the branch and builds with the Dockerfile at that path. */
function followers(of: string, path: string): readonly object[] {
  const build = { strategy: 'Dockerfile', dockerfile: { path, args: [{ name: 'BASE', value: base }] } }
  return [applicationManifest(of), remoteSyncManifest(of, { source: { branch: name }, build })]
}

const text = (dockerfile: readonly string[]): string => `${dockerfile.join('\n')}\n`

/** Builds the example shop with this Dockerfile. */
async function push(dockerfile: readonly string[]): Promise<string> {
  const commit = await branch.push(`page ${new Date().toISOString()}`, { 'build.Dockerfile': text(dockerfile) })
  await platform.apply('dave', followers(name, 'build.Dockerfile'))
  return commit
}

const start = 'CMD ["node", "server.js"]'

async function untilReason(reason: string, commit: string, reference = remoteSync): Promise<string> {
  return waitUntil(
    `${commit} ends with ${reason}`,
    async () => {
      const { status, ...object } = await read(platform.admin, reference)
      const ready = readyOf({ ...object, ...(status === undefined ? {} : { status }) })
      if (ready?.reason === reason && status?.['commit'] === commit) return ready.message
      throw new Error(`${ready?.reason}: ${ready?.message}`)
    },
    { timeoutMilliseconds: limits.build },
  )
}

/** What the steps wrote into the image, from a pod that runs it: the log of a step may lack the last line of a short one. */
async function probesOfImage(): Promise<string> {
  const answer = await platform.asAdministrator(['exec', '-n', 'acme', `deployment/${name}-web`, '--', 'cat', '/app/probes'])
  if (answer.code !== 0) throw new Error(answer.errors)
  return answer.output
}

test('a Dockerfile becomes an image of exactly its commit, which the Dockerfile cannot claim otherwise', async () => {
  const claimed = '0'.repeat(40)
  const commit = await push([
    '# syntax=registry.invalid/frontend:1',
    ...from,
    `LABEL org.opencontainers.image.revision=${claimed}`,
    'RUN id && touch /app/built',
    'USER 1000',
    start,
  ])
  await untilReason('Deployed', commit)
  await waitUntil(`${url} answers with ${commit}`, async () => {
    const [version, page] = [await requestVersion(url), await requestVersion(url, '/')]
    return version.status === 200 && page.text.includes(`<title>${branch.titleOf(commit)}</title>`)
  })
  expect((await read(platform.admin, remoteSync)).status).toMatchObject({ imageCommit: commit, build: { attempt: 1 } })
})

const probe = (what: string, command: string): string =>
  `RUN if ${command}; then echo "${what}: open"; else echo "${what}: closed"; fi >>probes`
const reaches = (address: string, port: number): string => `timeout 5 busybox nc -z -w 3 ${address} ${port}`

test('code in RUN reaches nothing of the cluster, and reads no credential, no source and no process but its own', async () => {
  const commit = await push([
    ...from,
    probe('api server', reaches(settings.nodeAddress, settings.ports.apiServer)),
    probe('kubernetes service', reaches('10.96.0.1', 443)),
    probe('kubelet', reaches(settings.nodeAddress, 10250)),
    probe('metadata', reaches('169.254.169.254', 80)),
    probe('token', 'cat /var/run/secrets/kubernetes.io/serviceaccount/token /run/secrets/*/* 2>/dev/null | grep -q .'),
    probe('daemon environment', 'cat /proc/1/environ 2>/dev/null | grep -q .'),
    probe('daemon root', 'ls /proc/1/root/ 2>/dev/null | grep -q .'),
    probe('socket', 'find / -xdev -name buildkitd.sock 2>/dev/null | grep -q .'),
    probe('mount', 'mount -t tmpfs none /mnt 2>/dev/null'),
    probe('registry', 'cat /proc/*/environ 2>/dev/null | grep -aq DOCKER_CONFIG'),
    start,
  ])
  await untilReason('Deployed', commit)
  const found = (await probesOfImage()).trimEnd().split('\n')
  expect(found).toHaveLength(10)
  expect(found.filter(one => !one.endsWith(': closed'))).toEqual([])
})

test('Dockerfiles that ask for what no build may have fail and say why', async () => {
  const pathOf = (index: number): string => `refused-${index}.Dockerfile`
  const registry = tenantRegistry(settings)
  const files = refusals.map(({ lines }, index) => [pathOf(index), text(lines.map(line => line.replace('REGISTRY', registry)))])
  await platform.remove([remoteSync])
  const commit = await branch.push(`page ${new Date().toISOString()}`, Object.fromEntries(files))
  await platform.apply(
    'dave',
    refusals.flatMap((_, index) => followers(refusedName(index), pathOf(index))),
  )
  await Promise.all(
    refusals.map(async ({ what, message }, index) => {
      expect(await untilReason('BuildFailed', commit, `remotesync/${refusedName(index)}`), what).toMatch(message)
    }),
  )
})

test('the pod of the build has no token, and nobody else may make such a pod', async () => {
  const pods = (await list(platform.admin, 'pod', '', 'acme-build')).filter(({ metadata }) => metadata.name.startsWith(name))
  expect(pods.length).toBeGreaterThan(0)
  for (const { spec } of pods) {
    expect(spec).toMatchObject({ automountServiceAccountToken: false })
    expect(JSON.stringify(spec)).not.toContain('serviceAccountToken')
  }
  const [pod] = pods
  const copy = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'e2e-copy' }, spec: { ...pod?.spec, nodeName: undefined } }
  const refused = await platform.admin.request('POST', '/api/v1/namespaces/acme-build/pods?dryRun=All', copy)
  expect(refused.status).toBe(403)
})
