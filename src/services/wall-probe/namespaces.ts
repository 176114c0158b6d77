// What must hold in both namespaces of each Tenant whatever else is in them: the labels by which rules find them, Pod Security,
// and a network policy that denies everything. Pure.
import type { Namespace, NetworkPolicy } from '../../api/builtin/index.ts'
import { labels, namespacesOf } from '../../api/names.ts'
import type { Tenant } from '../../api/tenancy/tenant.ts'
import type { Finding, Round } from './finding.ts'

export type NamespaceFacts = {
  readonly tenants: readonly Tenant[]
  /** Of the namespaces with the label of a tenant. */
  readonly namespaceOf: (name: string) => Namespace | undefined
  /** The policies of the platform, by namespace. */
  readonly policies: ReadonlyMap<string, readonly NetworkPolicy[]>
  /** Then Pod Security in build namespaces is replaced by the policy build-pods. */
  readonly buildsDockerfiles: boolean
}

const enforced = 'pod-security.kubernetes.io/enforce'

/**
 * Whether its walls are looked at: not before its namespaces were made, nor while it is being deleted. One that is not Ready for
 * another reason has pods that run on.
 */
export function isLookedAt({ metadata, status }: Tenant): boolean {
  return metadata.deletionTimestamp === undefined && status?.namespace !== undefined
}

export function lookAtNamespaces(facts: NamespaceFacts): Round {
  const findings = facts.tenants.flatMap(tenant => {
    const [application, build] = namespacesOf(tenant.spec.namespace)
    return [
      ...findingsIn(facts, { tenant, name: application, purpose: 'application', levels: ['restricted'] }),
      ...findingsIn(facts, {
        tenant,
        name: build,
        purpose: 'build',
        levels: facts.buildsDockerfiles ? ['restricted', 'privileged'] : ['restricted'],
      }),
    ]
  })
  const looked = facts.tenants.flatMap(({ spec: { namespace } }) =>
    namespacesOf(namespace).flatMap(where => walls.map(wall => ({ wall, where }))),
  )
  return { looked, findings }
}

const walls = ['namespace-labels', 'pod-security', 'network-default-deny'] as const

type Wanted = {
  readonly tenant: Tenant
  readonly name: string
  readonly purpose: 'application' | 'build'
  readonly levels: readonly string[]
}

function findingsIn(facts: NamespaceFacts, { tenant, name, purpose, levels }: Wanted): readonly Finding[] {
  const namespace = facts.namespaceOf(name)
  const off = (wall: Finding['wall'], text: string): Finding => ({ wall, verdict: 'Off', where: name, text })
  // Without the label it is not in the cache.
  if (namespace === undefined)
    return [off('namespace-labels', `it is missing, or lacks the label ${labels.tenant}: no rule for tenants holds there`)]
  const marks = namespace.metadata.labels ?? {}
  const findings: Finding[] = []
  if (marks[labels.tenant] !== tenant.metadata.name || marks[labels.namespacePurpose] !== purpose)
    findings.push(
      off('namespace-labels', `${labels.tenant} must be ${tenant.metadata.name} and ${labels.namespacePurpose} ${purpose}`),
    )
  if (!levels.includes(marks[enforced] ?? ''))
    findings.push(off('pod-security', `${enforced} is ${marks[enforced] ?? 'not set'}, and must be ${levels.join(' or ')}`))
  const open = ['Ingress', 'Egress'].filter(direction => !facts.policies.get(name)?.some(policy => deniesAll(policy, direction)))
  if (open.length > 0) findings.push(off('network-default-deny', `no policy denies all pods ${open.join(' and ')}`))
  return findings
}

/** Selects all pods and allows nothing. */
function deniesAll({ spec, metadata }: NetworkPolicy, direction: string): boolean {
  const allowed = direction === 'Ingress' ? spec?.ingress : spec?.egress
  return (
    metadata.deletionTimestamp === undefined &&
    spec?.policyTypes?.includes(direction) === true &&
    Object.values(spec.podSelector).every(value => Object.keys(value as object).length === 0) &&
    (allowed ?? []).length === 0
  )
}
