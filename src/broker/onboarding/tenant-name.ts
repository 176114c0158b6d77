// Derives the name of a tenant and of its namespace from the account's login: a DNS label, never a name that the cluster or the
// platform uses, nor one under which operators usually install what a cluster needs: an account of that name must not get the
// namespace first. Pure.
import { buildNamespaceOf, platformNamespace } from '../../api/names.ts'
import { shortHash } from '../../lib/text/bounded-name.ts'

/** A DNS label has at most 63 characters; the build namespace adds `-build`. */
const longest = 57
const reserved: ReadonlySet<string> = new Set([
  platformNamespace,
  ...['default', 'system', 'admin', 'kpack', 'traefik', 'monitoring', 'logging', 'observability', 'ingress', 'registry'],
  ...['argo', 'argo-cd', 'argocd', 'argo-rollouts', 'argo-workflows', 'flux', 'flux-system', 'fleet-system', 'tekton-pipelines'],
  ...[
    'cert-manager',
    'external-dns',
    'external-secrets',
    'sealed-secrets',
    'vault',
    'dex',
    'keycloak',
    'oauth2-proxy',
    'pinniped',
  ],
  ...['istio-system', 'istio-ingress', 'linkerd', 'consul', 'cilium', 'calico-system', 'tigera-operator', 'metallb-system'],
  ...['ingress-nginx', 'nginx-ingress', 'contour', 'envoy-gateway-system', 'kong', 'gateway-system', 'knative-serving'],
  ...['velero', 'longhorn-system', 'rook-ceph', 'openebs', 'minio', 'minio-operator', 'local-path-storage'],
  ...[
    'prometheus',
    'grafana',
    'loki',
    'tempo',
    'mimir',
    'jaeger',
    'elastic-system',
    'datadog',
    'newrelic',
    'opentelemetry-operator-system',
  ],
  ...['gatekeeper-system', 'kyverno', 'falco', 'trivy-system', 'crossplane-system', 'capsule-system', 'vcluster', 'cnpg-system'],
  ...['keda', 'karpenter', 'cluster-autoscaler', 'node-feature-discovery', 'gpu-operator', 'harbor', 'rancher', 'cattle-system'],
  ...['gke-managed-system', 'gmp-system', 'amazon-cloudwatch', 'aws-observability', 'azure-arc', 'calico-apiserver'],
])
const reservedBeginnings = [
  'kube-',
  'sekisho',
  'openshift',
  'cattle-',
  'gke-',
  'aks-',
  'eks-',
  'istio-',
  'knative-',
  'tanzu-',
] as const

function labelOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
    .replace(/^-+|-+$/g, '')
}

function isReserved(name: string): boolean {
  return (
    name === '' ||
    reserved.has(name) ||
    reservedBeginnings.some(beginning => name.startsWith(beginning)) ||
    // `x-build` would be the build namespace of a tenant `x`.
    name.endsWith(buildNamespaceOf(''))
  )
}

function withSuffix(login: string, suffix: string): string {
  const stem = labelOf(login)
    .slice(0, longest - suffix.length)
    .replace(/-+$/, '')
  return `${stem === '' || isReserved(stem) ? `t-${stem}`.replace(/-+$/, '') : stem}${suffix}`
}

/**
 * The names to try, in this order: the login; the login with the numeric id; the login with a hash of the onboarding's random
 * id. Others can have accounts with the first two as their login, but cannot know the third.
 */
export function tenantNameCandidates(
  { login, id }: { readonly login: string; readonly id: number },
  onboardingId: string,
): readonly string[] {
  const plain = labelOf(login).slice(0, longest).replace(/-+$/, '')
  const hash = shortHash(onboardingId, 10)
  return [...new Set([plain, withSuffix(login, `-${id}`), withSuffix(login, `-${hash}`)])].filter(name => !isReserved(name))
}
