// The AdmissionReviews of the bench, in the form and size in which the API server sends them: a pod with the fields that
// controllers add, a scaled Deployment with its old version, Secrets, a grant and a changed RemoteSync. Each is checked by
// different rules of ours; one is refused.
import { createHash } from 'node:crypto'
import type { PlannedRequest } from '../load/planned-request.ts'

type Json = Readonly<Record<string, unknown>>

const namespace = 'acme-shop'
const person = 'github|github.com|583231'

/** A UUID that is the same in every run, so that both sides and all rounds receive the same bytes. */
function uid(of: string): string {
  const hex = createHash('sha256').update(of).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

function metadata(name: string, more: Json = {}): Json {
  return {
    name,
    namespace,
    uid: uid(name),
    creationTimestamp: '2026-02-03T10:20:30Z',
    labels: { 'app.kubernetes.io/name': 'shop', 'app.kubernetes.io/managed-by': 'sekisho', 'pod-template-hash': '6f7d9c5b8d' },
    managedFields: [
      {
        manager: 'sekisho.dev/application',
        operation: 'Apply',
        apiVersion: 'v1',
        time: '2026-02-03T10:20:30Z',
        fieldsType: 'FieldsV1',
        fieldsV1: {
          'f:metadata': { 'f:labels': { 'f:app.kubernetes.io/name': {}, 'f:app.kubernetes.io/managed-by': {} } },
          'f:spec': {
            'f:replicas': {},
            'f:selector': {},
            'f:template': { 'f:spec': { 'f:containers': { 'k:{"name":"web"}': {} } } },
          },
        },
      },
    ],
    ...more,
  }
}

const container: Json = {
  name: 'web',
  image: `registry.sekisho-system.svc:5000/acme/shop@sha256:${'4b'.repeat(32)}`,
  ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }],
  env: [
    { name: 'PORT', value: '8080' },
    { name: 'SHOP_CURRENCY', value: 'EUR' },
    { name: 'DATABASE_URL', valueFrom: { secretKeyRef: { name: 'shop-database', key: 'url' } } },
    { name: 'POD_NAME', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } } },
  ],
  envFrom: [{ configMapRef: { name: 'shop-settings' } }, { secretRef: { name: 'shop-mail', optional: true } }],
  resources: { limits: { cpu: '500m', memory: '256Mi' }, requests: { cpu: '50m', memory: '128Mi' } },
  readinessProbe: {
    httpGet: { path: '/healthz', port: 'http', scheme: 'HTTP' },
    timeoutSeconds: 1,
    periodSeconds: 10,
    successThreshold: 1,
    failureThreshold: 3,
  },
  securityContext: {
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
    runAsNonRoot: true,
    seccompProfile: { type: 'RuntimeDefault' },
  },
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
  imagePullPolicy: 'IfNotPresent',
  volumeMounts: [{ name: 'kube-api-access-x7k2p', readOnly: true, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' }],
}

const podSpec: Json = {
  volumes: [
    {
      name: 'kube-api-access-x7k2p',
      projected: {
        sources: [
          { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
          { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
          { downwardAPI: { items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }] } },
        ],
        defaultMode: 420,
      },
    },
  ],
  containers: [container],
  restartPolicy: 'Always',
  terminationGracePeriodSeconds: 30,
  dnsPolicy: 'ClusterFirst',
  serviceAccountName: 'default',
  imagePullSecrets: [{ name: 'shop-registry' }],
  securityContext: { runAsNonRoot: true, runAsUser: 1000, fsGroup: 1000 },
  schedulerName: 'default-scheduler',
  tolerations: [{ key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 }],
  priority: 0,
  enableServiceLinks: true,
}

const deployment = (replicas: number): Json => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: metadata('shop-web', { generation: replicas }),
  spec: {
    replicas,
    selector: { matchLabels: { 'app.kubernetes.io/name': 'shop' } },
    template: { metadata: { labels: { 'app.kubernetes.io/name': 'shop' } }, spec: podSpec },
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } },
    revisionHistoryLimit: 2,
  },
})

const secret = (name: string): Json => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: metadata(name),
  type: 'Opaque',
  data: { url: Buffer.from('postgresql://shop@database/shop').toString('base64') },
})

const grant: Json = {
  apiVersion: 'github.sekisho.dev/v1alpha1',
  kind: 'RepositoryGrant',
  metadata: metadata('read-shop'),
  spec: {
    requestedBy: person,
    installation: 'acme',
    repositories: ['acme/shop', 'acme/shop-assets'],
    permissions: { contents: 'read', metadata: 'read' },
    subjects: [{ kind: 'ServiceAccount', name: 'importer' }],
    delivery: 'TokenEndpoint',
    reason: 'the importer reads the catalogue every night',
  },
}

const remoteSync = (branch: string): Json => ({
  apiVersion: 'apps.sekisho.dev/v1alpha1',
  kind: 'RemoteSync',
  metadata: metadata('shop'),
  spec: { requestedBy: person, installation: 'acme', repository: 'acme/shop', branch, subPath: '', application: 'shop' },
})

type Case = {
  readonly kind: readonly [group: string, version: string, kind: string, resource: string]
  readonly operation: 'CREATE' | 'UPDATE'
  readonly username: string
  readonly object: Json
  readonly oldObject?: Json
  readonly allowed: boolean
}

const replicaSets = 'system:serviceaccount:kube-system:replicaset-controller'
const pod: Json = { apiVersion: 'v1', kind: 'Pod', metadata: metadata('shop-web-6f7d9c5b8d-x2x9q'), spec: podSpec, status: {} }

const cases: readonly Case[] = [
  { kind: ['', 'v1', 'Pod', 'pods'], operation: 'CREATE', username: replicaSets, object: pod, allowed: true },
  {
    kind: ['apps', 'v1', 'Deployment', 'deployments'],
    operation: 'UPDATE',
    username: person,
    object: deployment(3),
    oldObject: deployment(2),
    allowed: true,
  },
  {
    kind: ['', 'v1', 'Secret', 'secrets'],
    operation: 'CREATE',
    username: person,
    object: secret('shop-database'),
    allowed: true,
  },
  { kind: ['', 'v1', 'Secret', 'secrets'], operation: 'CREATE', username: person, object: secret('ghtok-shop'), allowed: false },
  {
    kind: ['github.sekisho.dev', 'v1alpha1', 'RepositoryGrant', 'repositorygrants'],
    operation: 'CREATE',
    username: person,
    object: grant,
    allowed: true,
  },
  {
    kind: ['apps.sekisho.dev', 'v1alpha1', 'RemoteSync', 'remotesyncs'],
    operation: 'UPDATE',
    username: person,
    object: remoteSync('main'),
    oldObject: remoteSync('next'),
    allowed: true,
  },
]

function review(one: Case, number: number): Json {
  const { operation, username, object } = one
  const [group, version, kind, resource] = one.kind
  const { name } = object['metadata'] as { readonly name: string }
  return {
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    request: {
      uid: uid(`review ${number}`),
      kind: { group, version, kind },
      resource: { group, version, resource },
      requestKind: { group, version, kind },
      requestResource: { group, version, resource },
      name,
      namespace,
      operation,
      userInfo: {
        username,
        uid: '6e1f8b1c-5f4a-4a5e-9a37-0a8a1e5a9c11',
        groups: ['github|github.com|org|9919', 'github|github.com|team|42', 'system:authenticated'],
      },
      object,
      oldObject: one.oldObject ?? null,
      dryRun: false,
      options: { kind: operation === 'CREATE' ? 'CreateOptions' : 'UpdateOptions', apiVersion: 'meta.k8s.io/v1' },
    },
  }
}

/**
 * One request for each case, with the answer that every correct webhook with the rule on reserved names returns. The query is
 * the API server's.
 */
export function plannedReviews(): readonly PlannedRequest[] {
  return cases.map((one, number) => ({
    path: one.kind[0].endsWith('sekisho.dev') ? '/validate/kinds?timeout=10s' : '/validate/tenants?timeout=10s',
    headers: { 'content-type': 'application/json', accept: 'application/json, */*', 'user-agent': 'kube-apiserver-admission' },
    body: Buffer.from(JSON.stringify(review(one, number))).toString('base64'),
    expectedStatus: 200,
    expectedText: `"allowed":${one.allowed}`,
  }))
}
