// A person with two kubeconfigs for the same ServiceAccount token: in one it stands itself, in the other the credential plugin
// answers it. The plugin finds it where `sekisho login` would have left it; it does not look into a token.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stringify } from 'yaml'
import type { AdminClient } from '../../../dev/cluster/control-plane/admin-client.ts'
import { readKubeconfig } from '../../../dev/cluster/control-plane/kubeconfig.ts'
import { kubernetesClientId } from '../../../src/api/names.ts'
import { readCliSettings } from '../../../src/cli/config.ts'
import { writeTokens } from '../../../src/cli/files/token-cache.ts'
import { runOnce } from './timed-runs.ts'

const issuer = 'https://sekisho.example.test'
const namespace = 'default'
const lifeSeconds = 3600

export type Person = {
  /** What both kubeconfigs share: the home with the caches of kubectl and of the command line. */
  readonly environment: Readonly<Record<string, string>>
  readonly kubeconfigs: { readonly plugin: string; readonly token: string }
}

export type PersonOptions = {
  readonly admin: AdminClient
  /** Of the administrator: names the API server. */
  readonly kubeconfig: string
  /** An empty folder. */
  readonly folder: string
  readonly sekisho: string
}

/** Creates the account with the right to read ConfigMaps in its namespace, and writes its kubeconfigs. */
export async function makePerson({ admin, kubeconfig, folder, sekisho }: PersonOptions): Promise<Person> {
  const token = await accountToken(admin)
  const { server, certificateAuthority = '' } = await readKubeconfig(kubeconfig)
  const home = join(folder, 'home')
  const environment = { PATH: process.env['PATH'] ?? '', HOME: home }
  await mkdir(home, { recursive: true })
  const authority = join(folder, 'ca.crt')
  await writeFile(authority, certificateAuthority)
  const kubeconfigs = { plugin: join(folder, 'plugin.yaml'), token: join(folder, 'token.yaml') }
  const settings = await readCliSettings({ issuer }, environment)
  const expiresAt = Math.floor(Date.now() / 1000) + lifeSeconds
  await writeTokens(settings, { issuer, clientId: kubernetesClientId, idToken: token, expiresAt, refreshToken: undefined })
  const place = ['--server', server, '--certificate-authority', authority, '--namespace', namespace]
  const args = ['kubeconfig', '--issuer', issuer, ...place, '--kubeconfig', kubeconfigs.plugin, '-o', 'json']
  await runOnce({ path: sekisho, args, environment }, AbortSignal.timeout(30_000))
  await writeFile(kubeconfigs.token, stringify(tokenKubeconfig({ server, certificateAuthority, token })), { mode: 0o600 })
  return { environment, kubeconfigs }
}

async function accountToken(admin: AdminClient): Promise<string> {
  const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`
  const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list'] }]
  const meta = { metadata: { name: 'person' } }
  const apiVersion = 'rbac.authorization.k8s.io/v1'
  await admin.call('POST', accounts, { apiVersion: 'v1', kind: 'ServiceAccount', ...meta })
  await admin.call('POST', `/api/v1/namespaces/${namespace}/configmaps`, { apiVersion: 'v1', kind: 'ConfigMap', ...meta })
  await admin.call('POST', `${rbac}/roles`, { apiVersion, kind: 'Role', ...meta, rules })
  await admin.call('POST', `${rbac}/rolebindings`, {
    apiVersion,
    kind: 'RoleBinding',
    ...meta,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'person' },
    subjects: [{ kind: 'ServiceAccount', namespace, name: 'person' }],
  })
  const request = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { expirationSeconds: lifeSeconds },
  }
  const issued = (await admin.call('POST', `${accounts}/person/token`, request)) as {
    readonly status: { readonly token: string }
  }
  return issued.status.token
}

type TokenAccess = { readonly server: string; readonly certificateAuthority: string; readonly token: string }

function tokenKubeconfig({ server, certificateAuthority, token }: TokenAccess): object {
  const cluster = { server, 'certificate-authority-data': Buffer.from(certificateAuthority).toString('base64') }
  const name = 'token'
  return {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    clusters: [{ name, cluster }],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name, namespace } }],
  }
}
