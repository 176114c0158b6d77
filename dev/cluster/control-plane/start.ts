// Starts etcd, kube-apiserver and kube-controller-manager, or finds them running, and returns an administrator's access.
// Two control planes may run on one machine: every path and port comes from the caller.
import { mkdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { catalog } from '../binaries/catalog.ts'
import type { BinaryDeps } from '../binaries/ensure-binary.ts'
import { ensureBinary } from '../binaries/ensure-binary.ts'
import type { KeyPairFiles } from '../pki/openssl.ts'
import type { Program } from '../processes/supervise.ts'
import { ensureRunning, hasEnded, stopProcess } from '../processes/supervise.ts'
import { replaceFile } from '../replace-file.ts'
import type { AdminClient } from './admin-client.ts'
import { adminClientFor } from './admin-client.ts'
import { admissionConfiguration, webhookKubeconfig } from './admission-config.ts'
import { auditPolicy } from './audit-policy.ts'
import { authenticationConfiguration } from './authentication-config.ts'
import {
  type AuthorizerAccess,
  authorizationWith,
  authorizerKubeconfig,
  plainAuthorization,
  shippedAuthorization,
} from './authorization-config.ts'
import type { ControlPlaneCertificates } from './certificates.ts'
import { adminUser, ensureCertificates } from './certificates.ts'
import { writeKubeconfig } from './kubeconfig.ts'
import type { ControlPlaneLayout } from './programs.ts'
import { apiServerProgram, configurationFiles, controllerManagerProgram, etcdProgram } from './programs.ts'

export type ControlPlaneOptions = ControlPlaneLayout & {
  readonly recordsFolder: string
  /** The address that clients use, for the kubeconfig. */
  readonly publicAddress: string
  readonly serviceAddress: string
  readonly issuerUrl: string
  /** The hosts of the admission webhooks that see the API server's client certificate. */
  readonly webhookHosts: readonly string[]
  /** What the API server asks before RBAC. Nothing has to answer there yet. */
  readonly authorizer?: AuthorizerAccess
  /**
   * Called when the API server is ready and before kube-controller-manager starts, whose controllers then know the kinds that
   * it installs from the beginning; later ones they look for every 30 s.
   */
  readonly beforeControllers?: (admin: AdminClient) => Promise<void>
}

export type ControlPlane = {
  /** Path of the administrator's kubeconfig. */
  readonly kubeconfig: string
  readonly breakGlassKubeconfig: string
  readonly admin: AdminClient
  readonly certificates: ControlPlaneCertificates
  readonly stop: () => Promise<void>
}

const readyMilliseconds = 60_000
export const controlPlaneProcesses = ['kube-controller-manager', 'kube-apiserver', 'etcd'] as const

export async function startControlPlane(options: ControlPlaneOptions, deps: BinaryDeps): Promise<ControlPlane> {
  const etcd = await ensureBinary(catalog.etcd, deps)
  const kubernetes = await ensureBinary(catalog.kubernetes, deps)
  const folders = { records: options.recordsFolder, logs: join(options.folder, 'logs') }
  // The mode is for what is made here only: other accounts, such as that of PostgreSQL, have folders beside this one.
  await mkdir(dirname(options.folder), { recursive: true })
  await Promise.all(['config', 'logs', 'pki'].map(name => mkdir(join(options.folder, name), { recursive: true, mode: 0o700 })))
  const addresses = [...new Set(['127.0.0.1', options.serviceAddress, options.publicAddress])]
  const certificates = await ensureCertificates(join(options.folder, 'pki'), addresses, options.clusterDomain)
  await writeAuthorization(options, certificates, deps.settings.repository)
  const { kubeconfig, breakGlassKubeconfig } = await writeConfiguration(options, certificates)
  const admin = await adminClientFor(kubeconfig)
  const run = async (program: Program): Promise<void> => {
    const what = await ensureRunning(program, folders)
    if (what !== 'running') deps.progress.note(`${program.name} ${what}`)
  }
  const patience = { timeoutMilliseconds: readyMilliseconds }
  await run(etcdProgram(etcd.path('etcd'), options, certificates))
  await run(apiServerProgram(kubernetes.path('kube-apiserver'), options, certificates))
  await waitUntil('kube-apiserver /readyz', async () => ((await admin.ready()) ? true : undefined), {
    ...patience,
    hopeless: async () => (await hasEnded('etcd', folders)) ?? hasEnded('kube-apiserver', folders),
  })
  await bindAdministrator(breakGlassKubeconfig)
  if (options.beforeControllers !== undefined) {
    await waitUntil('rights of the administrator', () => found(admin, '/api/v1/namespaces/default'), patience)
    await options.beforeControllers(admin)
  }
  await run(controllerManagerProgram(kubernetes.path('kube-controller-manager'), options, certificates))
  await waitUntil('ServiceAccount default/default', () => found(admin, '/api/v1/namespaces/default/serviceaccounts/default'), {
    ...patience,
    hopeless: () => hasEnded('kube-controller-manager', folders),
  })
  return {
    kubeconfig,
    breakGlassKubeconfig,
    admin,
    certificates,
    stop: async () => {
      await admin.close()
      for (const name of controlPlaneProcesses) await stopProcess(name, folders)
    },
  }
}

async function found(admin: AdminClient, path: string): Promise<true | undefined> {
  return (await admin.request('GET', path)).status === 200 ? true : undefined
}

async function writeConfiguration(options: ControlPlaneOptions, certificates: ControlPlaneCertificates) {
  const files = configurationFiles(options.folder)
  const server = `https://${options.publicAddress}:${options.ports.apiServer}`
  const kubeconfig = join(options.folder, 'kubeconfig')
  const breakGlassKubeconfig = join(options.folder, 'config', 'break-glass.kubeconfig')
  const issuer = { url: options.issuerUrl, audience: 'kubernetes', certificateAuthority: certificates.authorityPem }
  await replaceFile(files.authentication, authenticationConfiguration(issuer))
  await replaceFile(files.audit, auditPolicy(options.audited))
  await replaceFile(files.admission, admissionConfiguration(files.webhookKubeconfig))
  await replaceFile(files.webhookKubeconfig, webhookKubeconfig(options.webhookHosts, certificates.apiServerToWebhooks))
  const access = (user: string, pair: KeyPairFiles) => ({ server, authorityPem: certificates.authorityPem, user, pair })
  await writeKubeconfig(kubeconfig, access(adminUser, certificates.admin))
  await writeKubeconfig(breakGlassKubeconfig, access('break-glass', certificates.breakGlass))
  await writeKubeconfig(
    files.controllerManagerKubeconfig,
    access('system:kube-controller-manager', certificates.controllerManager),
  )
  return { kubeconfig, breakGlassKubeconfig }
}

async function writeAuthorization(
  { folder, authorizer, without }: ControlPlaneOptions,
  certificates: ControlPlaneCertificates,
  repository: string,
): Promise<void> {
  const { authorization, authorizerKubeconfig: kubeconfig } = configurationFiles(folder)
  if (authorizer === undefined || without?.includes('authorizer')) return replaceFile(authorization, plainAuthorization())
  const shipped = await readFile(join(repository, shippedAuthorization), 'utf8')
  const client = certificates.apiServerToWebhooks
  await replaceFile(kubeconfig, authorizerKubeconfig(authorizer, certificates.authorityFile, client))
  await replaceFile(authorization, authorizationWith(shipped, kubeconfig, authorizer.unasked))
}

/** The only use of the break-glass pair: an ordinary binding makes the daily administrator a cluster-admin. */
async function bindAdministrator(breakGlassKubeconfig: string): Promise<void> {
  const root = await adminClientFor(breakGlassKubeconfig)
  try {
    const binding = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: adminUser },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: adminUser }],
    }
    await waitUntil(
      'binding of the administrator',
      () => root.apply(`/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/${adminUser}`, binding),
      { timeoutMilliseconds: readyMilliseconds },
    )
  } finally {
    await root.close()
  }
}
