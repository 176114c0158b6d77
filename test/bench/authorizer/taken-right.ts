// How long a right that an administrator takes still counts, on a real API server with the shipped file: from the moment in
// which the file of readers is replaced until the first request that is denied. What brings the file into a pod is not in it.
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { adminUser } from '../../../dev/cluster/control-plane/certificates.ts'
import { portOffset, removeTestCluster, startTestCluster } from '../../../dev/cluster/control-plane/test-cluster.ts'
import { openAuthority } from '../../../dev/cluster/pki/authority.ts'
import { createProgress } from '../../../dev/cluster/progress.ts'
import { readClusterSettings } from '../../../dev/cluster/settings.ts'
import { accessFromFiles } from '../../../src/authorizer/access-files.ts'
import { createAuthorizerServer } from '../../../src/authorizer/server.ts'
import { SecretString } from '../../../src/lib/secret-string.ts'
import { silentLog } from '../../../src/lib/testing/silent-log.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { createCertificate } from '../../../src/web/tls.ts'
import { impersonation } from '../../attack/impersonation.ts'
import type { Figure, Measurement } from '../harness/bench.ts'
import { figureAtMost } from '../harness/goals.ts'

const rounds = 20
const label = 'right taken → first deny, longest'
const serverName = 'authorizer.bench'
const holder = { user: 'system:serviceaccount:tools:edit', groups: ['system:serviceaccounts', 'system:authenticated'] }
const path = '/api/v1/namespaces/default/secrets/appsecret-x'

export function takenRight(note: (message: string) => void, scale: number): Measurement {
  return {
    name: 'taken right',
    title: `a reader is removed from the file while it reads, ${rounds} times`,
    goals: [figureAtMost(label, 1000)],
    async run(signal) {
      const settings = readClusterSettings()
      const deps = { settings, progress: createProgress(line => note(line.trim())) }
      const port = settings.testPorts.apiServer + portOffset({ name: 'bench-cluster' }) + 8
      const authorizer = { server: `https://127.0.0.1:${port}`, serverName, unasked: [adminUser] }
      const cluster = { name: 'bench-cluster', authorizer } as const
      const folder = await mkdtemp(join(tmpdir(), 'authorizer-'))
      try {
        const { admin, kubeconfig, certificates } = await startTestCluster(deps, cluster)
        await admin.call('POST', '/api/v1/namespaces/default/secrets', {
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { name: 'appsecret-x' },
        })
        await admin.apply('/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings/edit', {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'RoleBinding',
          metadata: { name: 'edit' },
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit' },
          subjects: [{ kind: 'ServiceAccount', name: 'edit', namespace: 'tools' }],
        })
        const authority = await openAuthority(dirname(certificates.authorityFile), 'ca', 'sekisho-dev-ca')
        const leaf = await authority.leaf('authorizer', { commonName: serverName, usage: 'server', names: [serverName] })
        const certificate = createCertificate({
          certificate: await readFile(leaf.certificate, 'utf8'),
          privateKey: new SecretString(await readFile(leaf.key, 'utf8')),
          clientAuthorities: await readFile(certificates.webhookClientAuthorityFile, 'utf8'),
        })
        const access = accessFromFiles(folder, { log: silentLog })
        const clientNames = ['kube-apiserver']
        const served = { log: silentLog, certificate, clientNames, access: access.current, answered: () => {} }
        const server = createAuthorizerServer(served)
        await server.listen({ host: '127.0.0.1', port })
        const { as, close } = await impersonation(kubeconfig)
        try {
          const status = async (): Promise<number> => (await as(holder, 'GET', path)).status
          return await measured(Math.max(2, Math.round(rounds * scale)), { folder, status, signal })
        } finally {
          access.stop()
          await close()
          await admin.close()
          server.closeAllConnections()
          await server.close()
        }
      } finally {
        await removeTestCluster(deps, cluster)
        await rm(folder, { recursive: true, force: true })
      }
    },
  }
}

type Measured = { readonly folder: string; readonly status: () => Promise<number>; readonly signal: AbortSignal }

async function measured(times: number, { folder, status, signal }: Measured): Promise<readonly Figure[]> {
  const file = join(folder, 'readers')
  const replace = async (text: string): Promise<void> => {
    await writeFile(`${file}.new`, text)
    await rename(`${file}.new`, file)
  }
  const took: number[] = []
  for (let round = 0; round < times; round += 1) {
    signal.throwIfAborted()
    await replace('ServiceAccount tools/edit\n')
    await waitUntil('the holder reads', async () => (await status()) === 200 || undefined)
    await replace('')
    const since = performance.now()
    while ((await status()) === 200) signal.throwIfAborted()
    took.push(performance.now() - since)
  }
  const sorted = took.toSorted((a, b) => a - b)
  return [
    { label, value: sorted.at(-1) ?? Number.NaN, unit: 'ms' },
    { label: 'right taken → first deny, median', value: sorted[Math.floor(sorted.length / 2)] ?? Number.NaN, unit: 'ms' },
  ]
}
