// `sekisho grants list` and `sekisho grants explain`: what is granted and what waits, from the objects that the controllers
// decide by and report in.
import type { GrantApproval } from '../../../api/github/grant-approval.ts'
import { permissionsText, refsText, subjectsText } from '../../../api/github/repository-grant/access-text.ts'
import type { RepositoryGrant } from '../../../api/github/repository-grant.ts'
import { findCondition } from '../../../kube/object/conditions.ts'
import { compareText } from '../../../lib/text/compare-text.ts'
import { isAbout } from '../../../policy/grants/approvals.ts'
import { lifetimesText, tokenSeconds } from '../../../policy/grants/token-lifetime.ts'
import { found } from '../../kubernetes/cluster.ts'
import { grantApprovals, repositoryGrants } from '../../kubernetes/kinds.ts'
import { age, type ClusterFormat, present, table } from '../../output.ts'
import type { ClusterContext } from '../cluster-context.ts'
import { deliveredCure, deliveredOf } from './delivered.ts'

/** A grant as the commands print it for programs: part of their contract. */
export function resultOf(grant: RepositoryGrant) {
  const { metadata, spec, status } = grant
  const ready = findCondition(status?.conditions, 'Ready')
  return {
    name: metadata.name,
    namespace: metadata.namespace,
    uid: metadata.uid,
    decision: status?.decision ?? 'Undecided',
    ready: ready?.status === 'True',
    reason: ready?.reason ?? 'Pending',
    message: ready?.message ?? '',
    rule: status?.rule,
    approvals: status?.approvals,
    requestedRepositories: status?.requestedRepositories,
    repositories: spec.repositories,
    permissions: spec.permissions,
    subjects: spec.subjects,
    delivery: spec.delivery,
    refs: spec.git?.refs,
    requestedBy: spec.requestedBy,
    requestedFor: spec.reason,
    expiresAt: status?.expiresAt,
    tokenLifetimes: spec.subjects.map(({ kind, name }) => ({
      kind,
      name,
      seconds: tokenSeconds(status?.tokenLifetimes, { kind, name }),
    })),
    delivered: deliveredResult(grant),
    audit: status?.audit,
    createdAt: metadata.creationTimestamp,
  }
}

/** Of the delivery `Secret`: whether the token is there, and why not. */
function deliveredResult(grant: RepositoryGrant) {
  const delivered = deliveredOf(grant)
  if (delivered === undefined) return undefined
  const { status, reason, message } = delivered
  return { ready: status === 'True', reason, message, cure: deliveredCure(delivered) }
}

type Result = ReturnType<typeof resultOf>

const isWaiting = ({ decision }: Result): boolean => decision === 'Waiting'

/** Those that wait are first. */
export async function grantsList(
  { cluster, terminal, clock }: ClusterContext,
  options: { readonly output: ClusterFormat; readonly waiting?: boolean; readonly allNamespaces?: boolean },
): Promise<void> {
  const { client, namespace } = cluster
  const grants = await client.list(repositoryGrants, options.allNamespaces === true ? {} : { namespace })
  const all = grants
    .map(resultOf)
    .filter(grant => options.waiting !== true || isWaiting(grant))
    .toSorted((a, b) => Number(isWaiting(b)) - Number(isWaiting(a)) || compareText(a.name, b.name))
  const rows = all.map(grant => [
    options.allNamespaces === true ? `${grant.namespace}/${grant.name}` : grant.name,
    grant.decision,
    grant.reason,
    grant.repositories.join(', '),
    permissionsText(grant.permissions),
    grant.requestedBy,
    age(grant.createdAt, clock.now()),
  ])
  const none = options.waiting === true ? 'no grant waits for approval' : 'there is no grant'
  const headers = ['GRANT', 'DECISION', 'STATE', 'REPOSITORIES', 'PERMISSIONS', 'BY', 'AGE']
  await present(terminal, options.output, { value: all, text: () => (rows.length === 0 ? none : table(headers, rows)) })
}

/** Everything that a person needs who has to answer for it. */
export async function grantsExplain(
  { cluster, terminal }: ClusterContext,
  options: { readonly output: ClusterFormat },
  name: string,
): Promise<void> {
  const grant = await found(cluster, repositoryGrants, name)
  const { namespace } = cluster
  const all = await cluster.client.list(grantApprovals, { namespace })
  const answers = all.filter(approval => isAbout(approval, grant)).map(answerOf)
  const value = { ...resultOf(grant), answers }
  const said = answers.map(({ by, answer, breakGlass, reason, state, message }) => {
    const what = `${by}: ${answer}${breakGlass ? ' by break-glass' : ''}`
    return state === 'Counted' ? `  ${what}, because: ${reason}` : `  ${what}, which does not count: ${message}`
  })
  const text = () =>
    [
      `RepositoryGrant ${value.name}: ${value.decision}, ${value.ready ? 'gives tokens' : 'gives no token'} (${value.reason})`,
      `  uid:     ${value.uid}`,
      `  what:    ${permissionsText(value.permissions)} on ${value.repositories.join(', ')}, by ${value.delivery}${refsText(value.refs)}`,
      `  for:     ${subjectsText(value.subjects)}`,
      `  by:      ${value.requestedBy}, because: ${value.requestedFor}`,
      `  why:     ${value.message}`,
      ...(value.rule === undefined ? [] : [`  rules:   ${value.rule}`]),
      ...(value.expiresAt === undefined ? [] : [`  until:   ${value.expiresAt}`]),
      `  tokens:  live for ${lifetimesText(value.tokenLifetimes)}`,
      ...deliveredLines(value),
      ...(value.audit === undefined ? [] : [`  audited: it would be ${value.audit.decision}: ${value.audit.message}`]),
      ...(said.length === 0 ? [] : ['Answers:', ...said]),
      ...(isWaiting(value)
        ? [`An admin of the tenant answers: sekisho grants approve ${value.name} --uid ${value.uid} --reason TEXT (or deny)`]
        : []),
    ].join('\n')
  await present(terminal, options.output, { value, text })
}

function deliveredLines({ delivery, ready, delivered }: Result): readonly string[] {
  if (delivery !== 'Secret') return []
  if (delivered === undefined) return ready ? ['  secret:  not made yet'] : []
  const { reason, message, cure } = delivered
  return [`  secret:  ${reason}: ${message}`, ...(cure === undefined ? [] : [`  cure:    ${cure}`])]
}

function answerOf({ spec, status }: GrantApproval) {
  const ready = findCondition(status?.conditions, 'Ready')
  const { requestedBy: by, answer, reason, via, breakGlass = false } = spec
  return {
    by,
    answer,
    reason,
    via,
    breakGlass,
    state: ready?.reason ?? 'Pending',
    message: ready?.message ?? 'not looked at yet',
  }
}
