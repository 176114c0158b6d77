// Every certificate of a control plane. Components have their own users. The administrator is not a member of system:masters,
// because that group bypasses every authorizer; a break-glass pair with that group is kept apart.
import { ensureSigningKey, openAuthority } from '../pki/authority.ts'
import type { KeyPairFiles } from '../pki/openssl.ts'

export type ControlPlaneCertificates = {
  readonly authorityPem: string
  readonly authorityFile: string
  readonly etcdAuthorityFile: string
  readonly apiServer: KeyPairFiles
  readonly apiServerToKubelet: KeyPairFiles
  /** What the API server shows to admission webhooks, and the authority by which they verify it. */
  readonly apiServerToWebhooks: KeyPairFiles
  readonly webhookClientAuthorityFile: string
  readonly etcdServer: KeyPairFiles
  readonly etcdClient: KeyPairFiles
  readonly controllerManager: KeyPairFiles
  readonly admin: KeyPairFiles
  readonly breakGlass: KeyPairFiles
  readonly serviceAccount: { readonly privateKey: string; readonly publicKey: string }
}

export const adminUser = 'sekisho-dev-admin'
/** The API server's user towards a kubelet. */
export const apiServerToKubeletUser = 'kube-apiserver-kubelet'
/** The API server's name towards admission webhooks: the default of SEKISHO_ADMISSION_CLIENT_NAMES. */
const apiServerToWebhooksName = 'kube-apiserver'

/** Makes or renews all of them below `folder`. `addresses` are those by which clients reach the API server. */
export async function ensureCertificates(
  folder: string,
  addresses: readonly string[],
  clusterDomain: string,
): Promise<ControlPlaneCertificates> {
  // etcd trusts every certificate of its authority, so it must not be the authority that signs API users; and who calls
  // webhooks must be nobody but API servers.
  const [authority, etcdAuthority, webhookClientAuthority] = await Promise.all([
    openAuthority(folder, 'ca', 'sekisho-dev-ca'),
    openAuthority(folder, 'etcd-ca', 'sekisho-dev-etcd-ca'),
    openAuthority(folder, 'admission-client-ca', 'sekisho-dev-admission-client-ca'),
  ])
  const service = ['kubernetes', 'kubernetes.default', 'kubernetes.default.svc', `kubernetes.default.svc.${clusterDomain}`]
  const local = { names: ['localhost'], addresses: ['127.0.0.1'] }
  const [apiServer, apiServerToKubelet, controllerManager, admin, breakGlass, etcdServer, etcdClient, serviceAccount] =
    await Promise.all([
      authority.leaf('kube-apiserver', {
        commonName: 'kube-apiserver',
        usage: 'server',
        names: ['localhost', ...service],
        addresses,
      }),
      authority.leaf('kube-apiserver-kubelet', { commonName: apiServerToKubeletUser, usage: 'client' }),
      authority.leaf('kube-controller-manager', { commonName: 'system:kube-controller-manager', usage: 'client' }),
      authority.leaf('admin', { commonName: adminUser, usage: 'client' }),
      authority.leaf('break-glass', {
        commonName: 'sekisho-dev-break-glass',
        organizations: ['system:masters'],
        usage: 'client',
      }),
      etcdAuthority.leaf('etcd', { commonName: 'etcd', usage: 'both', ...local }),
      etcdAuthority.leaf('etcd-client', { commonName: 'kube-apiserver', usage: 'client' }),
      ensureSigningKey(folder),
    ])
  const apiServerToWebhooks = await webhookClientAuthority.leaf('kube-apiserver-admission', {
    commonName: apiServerToWebhooksName,
    usage: 'client',
  })
  return {
    authorityPem: authority.pem,
    authorityFile: authority.files.certificate,
    etcdAuthorityFile: etcdAuthority.files.certificate,
    apiServer,
    apiServerToKubelet,
    apiServerToWebhooks,
    webhookClientAuthorityFile: webhookClientAuthority.files.certificate,
    etcdServer,
    etcdClient,
    controllerManager,
    admin,
    breakGlass,
    serviceAccount,
  }
}
