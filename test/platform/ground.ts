// What a platform stands on in a cluster of its own: the kinds, the rights of its ServiceAccounts, its certificates,
// policies and webhooks, and the App.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { AdminClient } from '../../dev/cluster/control-plane/admin-client.ts'
import { openAuthority } from '../../dev/cluster/pki/authority.ts'
import type { RunningEmulator } from '../../dev/github/emulator.ts'
import { createKubectl } from '../../dev/up/kubectl.ts'
import { applyFoundations } from '../../dev/up/steps.ts'
import { policyFiles } from '../../src/admission/policies.ts'
import { registrations } from '../../src/admission/registrations.ts'
import { type Mode as Form, platformNamespace } from '../../src/api/names.ts'
import { giveSecret } from '../fixtures/platform-rights.ts'
import { admissionPath } from '../fixtures/policies.ts'

export const gitHubHost = 'github.localhost'

/** The kinds, and the rights that the ServiceAccounts of a form have. `program` is kubectl. */
export async function applyKindsAndRoles(
  program: string,
  kubeconfig: string,
  { repository, form }: { readonly repository: string; readonly form: Form },
): Promise<void> {
  const kubectl = createKubectl(program, kubeconfig)
  const deploy = join(repository, 'deploy')
  await applyFoundations(kubectl, { repository })
  await kubectl.applyFolder(join(deploy, 'rbac'))
  await kubectl.applyText(await readFile(join(deploy, form, 'accounts.yaml'), 'utf8'))
  await kubectl.applyText(await readFile(join(deploy, 'base/chart-web.yaml'), 'utf8'))
}

/** An authority, and what the broker and the webhook serve with. */
export async function makeCertificates(folder: string) {
  const authority = await openAuthority(folder, 'ca', 'soak')
  const leaf = await authority.leaf('broker', { commonName: 'broker', usage: 'server', addresses: ['127.0.0.1'] })
  const names = { names: ['sekisho-admission'], addresses: ['127.0.0.1'] }
  const webhookLeaf = await authority.leaf('admission', { commonName: 'sekisho-admission', usage: 'server', ...names })
  return { authority, leaf, webhookLeaf }
}

/** Policies, and the registrations of the webhook at this port of loopback. */
export async function installAdmission(
  admin: AdminClient,
  { authorityPem, port }: { readonly authorityPem: string; readonly port: number },
): Promise<void> {
  const target = { kind: 'url', origin: `https://127.0.0.1:${port}`, authorityPem } as const
  for (const manifest of [...[...policyFiles().values()].flat(), ...registrations(target)]) {
    await admin.apply(admissionPath(manifest), manifest)
  }
}

/** How a platform knows the App of an emulator. */
export type KnownApp = {
  readonly name: string
  /** Of a Secret in the platform's namespace. */
  readonly secret: string
  /** Where GitHub is reached; the emulator itself by default. */
  readonly url?: string
}

/** The Secret with the private key of the App, which the platform may read as an installer allows it. */
export async function applyAppKey(admin: AdminClient, secret: string, pem: string): Promise<void> {
  await giveSecret(admin, secret)
  await admin.apply(`/api/v1/namespaces/${platformNamespace}/secrets/${secret}`, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: secret, namespace: platformNamespace },
    data: { 'private-key.pem': Buffer.from(pem).toString('base64') },
  })
}

export async function applyApp(admin: AdminClient, { app, url }: RunningEmulator, known: KnownApp): Promise<void> {
  const web = known.url ?? url
  await admin.apply(`/apis/github.sekisho.dev/v1alpha1/clustergithubapps/${known.name}`, {
    apiVersion: 'github.sekisho.dev/v1alpha1',
    kind: 'ClusterGitHubApp',
    metadata: { name: known.name },
    spec: {
      host: gitHubHost,
      endpoints: { web, api: `${web}/api/v3`, insecure: true },
      appId: app.id,
      clientId: app.clientId,
      privateKeys: [{ secretName: known.secret, key: 'private-key.pem' }],
    },
  })
}
