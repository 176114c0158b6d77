// `sekisho policy list` and `sekisho policy show`: the policies that decide in the namespace, and those of the platform for who
// may read them.
import type { ClusterGrantPolicy, GrantPolicy } from '../../../api/github/grant-policy.ts'
import { permissionsText } from '../../../api/github/repository-grant/access-text.ts'
import { isKubeError } from '../../../kube/client/errors.ts'
import { findCondition } from '../../../kube/object/conditions.ts'
import { type Cluster, found } from '../../kubernetes/cluster.ts'
import { clusterGrantPolicies, grantPolicies } from '../../kubernetes/kinds.ts'
import { age, type ClusterFormat, present, table } from '../../output.ts'
import type { ClusterContext } from '../cluster-context.ts'

type Policy = GrantPolicy | ClusterGrantPolicy
type Rule = Policy['spec']['rules'][number]

/** The ClusterGrantPolicies; undefined for who may not read them. */
export async function platformPolicies(client: Cluster['client']): Promise<readonly ClusterGrantPolicy[] | undefined> {
  try {
    return await client.list(clusterGrantPolicies)
  } catch (error) {
    if (isKubeError(error, 403)) return undefined
    throw error
  }
}

function resultOf(policy: Policy) {
  const { kind, metadata, spec, status } = policy
  const ready = findCondition(status?.conditions, 'Ready')
  return {
    kind,
    name: metadata.name,
    namespace: metadata.namespace,
    mode: spec.mode,
    builtInRules: spec.builtInRules,
    rules: spec.rules,
    state: ready?.reason ?? 'Pending',
    message: ready?.message ?? '',
    createdAt: metadata.creationTimestamp,
  }
}

/** Of the namespace or of all namespaces, after those of the platform. */
export async function policyList(
  { cluster, terminal, clock }: ClusterContext,
  options: { readonly output: ClusterFormat; readonly allNamespaces?: boolean },
): Promise<void> {
  const { client, namespace } = cluster
  const ofPlatform = await platformPolicies(client)
  const own = await client.list(grantPolicies, options.allNamespaces === true ? {} : { namespace })
  const all = [...(ofPlatform ?? []), ...own].map(resultOf)
  const rows = all.map(({ kind, name, namespace: where, mode, builtInRules, rules, state, createdAt }) => [
    where === undefined ? `${kind} ${name}` : `${kind} ${where}/${name}`,
    mode,
    builtInRules,
    String(rules.length),
    state,
    age(createdAt, clock.now()),
  ])
  const none = 'no policies: what the platform allows without any is allowed'
  const text = () => (rows.length === 0 ? none : table(['POLICY', 'MODE', 'BUILT-IN', 'RULES', 'STATE', 'AGE'], rows))
  await present(terminal, options.output, { value: all, text })
  if (ofPlatform === undefined) terminal.say('You may not read ClusterGrantPolicies: those of the platform are not in the list.')
}

/** One policy, rule by rule. */
export async function policyShow(
  { cluster, terminal }: ClusterContext,
  options: { readonly output: ClusterFormat; readonly platform?: boolean },
  name: string,
): Promise<void> {
  const policy = resultOf(await found(cluster, options.platform === true ? clusterGrantPolicies : grantPolicies, name))
  const rows = policy.rules.map(rule => [
    rule.name,
    rule.effect,
    permissionsText(rule.permissions),
    repositoriesText(rule),
    requestersText(rule),
    rule.subjects?.map(({ kind, name: of }) => (of === undefined ? kind : `${kind} ${of}`)).join(', ') ?? 'all',
    rule.deliveries?.join(', ') ?? 'all',
    rule.refs?.join(', ') ?? 'all',
  ])
  const text = () =>
    [
      `${policy.kind} ${policy.name}: mode ${policy.mode}, built-in rules: ${policy.builtInRules}, ${policy.state}`,
      table(['RULE', 'EFFECT', 'PERMISSIONS', 'REPOSITORIES', 'REQUESTERS', 'SUBJECTS', 'DELIVERIES', 'REFS'], rows),
    ].join('\n')
  await present(terminal, options.output, { value: policy, text })
}

function repositoriesText({ host, repositories = [], repositoryIds = [], visibility }: Rule): string {
  const named = [...repositories, ...repositoryIds.map(id => `id ${id}`)].join(', ')
  return [named === '' ? 'all' : named, visibility?.join(' or '), host && `on ${host}`].filter(part => part).join(', ')
}

function requestersText({ requesters }: Rule): string {
  if (requesters === undefined) return 'everybody'
  return requesters
    .map(({ type, id, role, name }) => `${type.toLowerCase()} ${role ?? (name === undefined ? id : `${name} (${id})`)}`)
    .join(', ')
}
