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
import { admissionPath } from '../fixtures/policies.ts'
import { servicePorts } from './process-plans.ts'

/** A token of a ServiceAccount of the platform. */
export async function accountToken({ admin }: Pick<ControlPlane, 'admin'>, account: string): Promise<string> {
  const path = `/api/v1/namespaces/${platformNamespace}/serviceaccounts/${account}/token`
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 6 * 3600 } }
  const { status } = (await admin.call('POST', path, body)) as { readonly status: { readonly token: string } }
  return status.token
}

/** Access with a ServiceAccount of the platform, which has no more rights than its roles. Resolves to a file in the folder. */
export async function platformKubeconfig({ kubeconfig, admin }: ControlPlane, folder: string, account: string): Promise<string> {
  const token = await accountToken({ admin }, account)
  const { server, certificateAuthority = '' } = await readKubeconfig(kubeconfig)
  const file = join(folder, `${account}-kubeconfig`)
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

/** Policies, and the registrations of the webhook at its port in `servicePorts`. */
export async function installAdmission({ admin }: ControlPlane, authorityPem: string, mode: Mode): Promise<void> {
  const identities = platformIdentities(mode)
  const target = { kind: 'url', origin: `https://127.0.0.1:${servicePorts.admission}`, authorityPem } as const
  for (const manifest of [...[...policyFiles(identities).values()].flat(), ...registrations(target, identities)]) {
    await admin.apply(admissionPath(manifest), manifest)
  }
}
