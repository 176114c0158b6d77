// The overlay for a cluster of the user's: what the plan says, and nothing of this machine (no volumes of the host, external
// addresses, patches of nodes).

import { githubPort } from '../github.ts'
import type { Plan } from '../given-cluster/decision/plan.ts'
import { platformNamespace as namespace } from '../mode.ts'
import { trustPart } from './admission-trust.ts'
import { type OverlayPart, patchOf } from './part.ts'

/** On the ConfigMap sekisho-settings: the authority of the state folder that installed this platform. */
export const installerAnnotation = 'sekisho.dev/installed-by'

const controllersEgress = 'sekisho-controllers-egress'
/** Ports that the policies of deploy/base open already. */
const openPorts = { general: [443, 6443, 5432], migration: [5432] }

type GivenOverlay = {
  readonly plan: Plan
  readonly environment: Readonly<Record<string, string>>
  /** SHA-256 of the certificate of the state folder's authority. */
  readonly fingerprint: string
  /** PEM of the authorities by which API servers verify the webhook. */
  readonly admissionAuthorities: string
}

/** `migration` is for the folder that production applies first. */
export function givenOverlay({ plan, environment, fingerprint, admissionAuthorities }: GivenOverlay): {
  readonly main: OverlayPart
  readonly migration: OverlayPart
} {
  const settings = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'sekisho-settings', namespace, annotations: { [installerAnnotation]: fingerprint } },
    data: environment,
  }
  const trust = trustPart(admissionAuthorities)
  return {
    main: {
      objects: { settings, ...trust.objects },
      patches: [
        ...mutationVersion(plan),
        ...exposed(plan),
        ...network(plan),
        ...storage(plan),
        ...pullSecret(plan, { kind: 'Deployment', labelSelector: 'app.kubernetes.io/part-of=sekisho' }),
      ],
      replacements: trust.replacements ?? [],
    },
    migration: {
      objects: {},
      patches: [...migrationPorts(plan), ...pullSecret(plan, { kind: 'Job', name: 'sekisho-migrate' })],
    },
  }
}

/** The manifests name the version of Kubernetes 1.35, which later ones do not serve. */
function mutationVersion({ mutations }: Plan): readonly object[] {
  const value = `admissionregistration.k8s.io/${mutations}`
  return ['MutatingAdmissionPolicy', 'MutatingAdmissionPolicyBinding'].map(kind =>
    patchOf({ kind }, { op: 'replace', path: '/apiVersion', value }),
  )
}

function exposed({ broker: { expose, url } }: Plan): readonly object[] {
  if (expose === 'none') return []
  return [
    patchOf(
      { kind: 'Service', name: 'sekisho-broker' },
      { op: 'add', path: '/spec/type', value: 'LoadBalancer' },
      // The broker sees the addresses of clients.
      { op: 'add', path: '/spec/externalTrafficPolicy', value: 'Local' },
      { op: 'replace', path: '/spec/ports/0/port', value: portOf(url) },
    ),
  ]
}

function network({ apiServer, github, registry, database }: Plan): readonly object[] {
  const callers = apiServer.from.map(cidr => ({ ipBlock: { cidr } }))
  const webhooks = Object.entries({ 'sekisho-admission': 9443, 'sekisho-access-records': 9444 }).map(([name, port]) =>
    patchOf(
      { kind: 'NetworkPolicy', name },
      { op: 'replace', path: '/spec/ingress', value: [{ from: callers, ports: [tcp(port)] }] },
    ),
  )
  const emulator =
    github.kind === 'emulator' ? [{ to: [{ ipBlock: { cidr: `${github.address}/32` } }], ports: [tcp(githubPort)] }] : []
  const both = [apiServer.port, ...(database === null ? [] : [databasePort(database.ownerUrl)])]
  const [host = ''] = registry.reference.split('/')
  const ports = { 'sekisho-broker-egress': both, [controllersEgress]: [...both, Number(host.split(':')[1] ?? 443)] }
  return [
    ...webhooks,
    ...Object.entries(ports).flatMap(([name, numbers]) => {
      const added = [...new Set(numbers)].filter(port => !openPorts.general.includes(port))
      const operations = [
        ...added.map(port => ({ op: 'add', path: '/spec/egress/0/ports/-', value: tcp(port) }) as const),
        ...emulator.map(rule => ({ op: 'add', path: '/spec/egress/-', value: rule }) as const),
      ]
      return operations.length === 0 ? [] : [patchOf({ kind: 'NetworkPolicy', name }, ...operations)]
    }),
  ]
}

function migrationPorts({ database }: Plan): readonly object[] {
  const port = database === null ? 5432 : databasePort(database.ownerUrl)
  if (openPorts.migration.includes(port)) return []
  // The last rule of the policy is that for PostgreSQL.
  return [
    patchOf({ kind: 'NetworkPolicy', name: 'sekisho-migrate' }, { op: 'add', path: '/spec/egress/2/ports/-', value: tcp(port) }),
  ]
}

function storage({ storageClass }: Plan): readonly object[] {
  if (storageClass === null) return []
  return [
    patchOf(
      { kind: 'PersistentVolumeClaim', name: 'sekisho-data' },
      { op: 'add', path: '/spec/storageClassName', value: storageClass },
    ),
  ]
}

function pullSecret({ registry }: Plan, target: Parameters<typeof patchOf>[0]): readonly object[] {
  if (registry.pullSecret === null) return []
  const value = [{ name: registry.pullSecret }]
  return [patchOf(target, { op: 'add', path: '/spec/template/spec/imagePullSecrets', value })]
}

function tcp(port: number): object {
  return { protocol: 'TCP', port }
}

function portOf(url: URL): number {
  return url.port === '' ? 443 : Number(url.port)
}

function databasePort(url: string): number {
  return Number(new URL(url).port || 5432)
}
