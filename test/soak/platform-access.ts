// What gives the platform its place on a temporary control plane: the access of its ServiceAccounts, policies and webhooks.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { readKubeconfig } from '../../dev/cluster/control-plane/kubeconfig.ts'
import type { ControlPlane } from '../../dev/cluster/control-plane/start.ts'
import { type Mode, platformIdentities } from '../../src/admission/identities.ts'
import { policyFiles } from '../../src/admission/policies.ts'
import { registrations } from '../../src/admission/registrations.ts'
import { platformNamespace } from '../../src/api/names.ts'

/** Where the admission webhook of the platform listens. */
export const admissionPort = 24_445
const registry = '/apis/admissionregistration.k8s.io/v1'

/** A token of a ServiceAccount of the platform. */
export async function accountToken({ admin }: Pick<ControlPlane, 'admin'>, account = 'sekisho'): Promise<string> {
  const path = `/api/v1/namespaces/${platformNamespace}/serviceaccounts/${account}/token`
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 6 * 3600 } }
  const { status } = (await admin.call('POST', path, body)) as { readonly status: { readonly token: string } }
  return status.token
}

/** Access with the platform's own ServiceAccount, which has no more rights than its roles. */
export async function platformKubeconfig({ kubeconfig, admin }: ControlPlane, folder: string): Promise<string> {
  const token = await accountToken({ admin })
  const { server, certificateAuthority = '' } = await readKubeconfig(kubeconfig)
  const file = join(folder, 'platform-kubeconfig')
  const text = stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: 'soak', cluster: { server, 'certificate-authority-data': Buffer.from(certificateAuthority).toString('base64') } },
    ],
    users: [{ name: 'sekisho', user: { token } }],
    contexts: [{ name: 'soak', context: { cluster: 'soak', user: 'sekisho' } }],
    'current-context': 'soak',
  })
  await writeFile(file, text, { mode: 0o600 })
  return file
}

/** Policies, and the registrations of the webhook at `admissionPort`. */
export async function installAdmission({ admin }: ControlPlane, authorityPem: string, mode: Mode = 'standalone'): Promise<void> {
  const identities = platformIdentities(mode)
  const target = { kind: 'url', origin: `https://127.0.0.1:${admissionPort}`, authorityPem } as const
  for (const manifest of [...[...policyFiles(identities).values()].flat(), ...registrations(target, identities)]) {
    const { kind, metadata } = manifest
    const plural = kind === 'ValidatingAdmissionPolicy' ? 'validatingadmissionpolicies' : `${kind.toLowerCase()}s`
    await admin.apply(`${registry}/${plural}/${metadata.name}`, manifest)
  }
}
