// The API server access of the node's programs: a certificate and a kubeconfig each, and roles where Kubernetes has no built-in
// one. The network policy agent and Traefik may only read what they need.
import { join } from 'node:path'
import type { AdminClient } from '../control-plane/admin-client.ts'
import { apiServerToKubeletUser } from '../control-plane/certificates.ts'
import { writeKubeconfig } from '../control-plane/kubeconfig.ts'
import type { Authority } from '../pki/authority.ts'
import type { NodeContext } from './layout.ts'

export type NodeUser = 'kubelet' | 'kube-proxy' | 'kube-scheduler' | 'network-policies' | 'traefik'

type Rule = { readonly apiGroups: readonly string[]; readonly resources: readonly string[]; readonly verbs: readonly string[] }

const read = ['get', 'list', 'watch'] as const

export const traefikUser = 'sekisho-dev-traefik'

export const extraRoles: Readonly<Record<string, readonly Rule[]>> = {
  'sekisho-dev-network-policies': [
    { apiGroups: [''], resources: ['pods', 'namespaces'], verbs: ['list', 'watch'] },
    { apiGroups: ['networking.k8s.io'], resources: ['networkpolicies'], verbs: ['list', 'watch'] },
  ],
  // Traefik, "Kubernetes Ressource and RBAC" for the Ingress provider; Secrets are for TLS of Ingresses.
  [traefikUser]: [
    { apiGroups: [''], resources: ['services', 'secrets', 'nodes'], verbs: read },
    { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
    { apiGroups: ['networking.k8s.io'], resources: ['ingresses', 'ingressclasses'], verbs: read },
    { apiGroups: ['networking.k8s.io'], resources: ['ingresses/status'], verbs: ['update'] },
  ],
}

/** Makes the certificate and the kubeconfig of one program; resolves to the kubeconfig's path. */
export async function writeNodeAccess(context: NodeContext, authority: Authority, user: NodeUser): Promise<string> {
  const subjects = {
    kubelet: { commonName: `system:node:${context.settings.nodeName}`, organizations: ['system:nodes'] },
    'kube-proxy': { commonName: 'system:kube-proxy' },
    'kube-scheduler': { commonName: 'system:kube-scheduler' },
    'network-policies': { commonName: 'sekisho-dev-network-policies' },
    traefik: { commonName: traefikUser },
  } as const
  const subject = subjects[user]
  const pair = await authority.leaf(`${user}-client`, { ...subject, usage: 'client' })
  const path = join(context.layout.folder, 'config', `${user}.kubeconfig`)
  await writeKubeconfig(path, {
    server: context.controlPlane.admin.server,
    authorityPem: authority.pem,
    user: subject.commonName,
    pair,
  })
  return path
}

const group = 'rbac.authorization.k8s.io'

async function bind(admin: AdminClient, role: string, user: string): Promise<void> {
  await admin.apply(`/apis/${group}/v1/clusterrolebindings/${user}`, {
    apiVersion: `${group}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: user },
    roleRef: { apiGroup: group, kind: 'ClusterRole', name: role },
    subjects: [{ apiGroup: group, kind: 'User', name: user }],
  })
}

/**
 * Applies the roles, binds each to the user of its name, and lets the API server reach the kubelet (logs, exec, port-forward).
 */
export async function applyExtraRoles(admin: AdminClient): Promise<void> {
  for (const [name, rules] of Object.entries(extraRoles)) {
    await admin.apply(`/apis/${group}/v1/clusterroles/${name}`, {
      apiVersion: `${group}/v1`,
      kind: 'ClusterRole',
      metadata: { name },
      rules,
    })
    await bind(admin, name, name)
  }
  await bind(admin, 'system:kubelet-api-admin', apiServerToKubeletUser)
}
