// `sekisho grants approve`, `deny` and `withdraw`: the answer of the person to one grant, as an object of the Kubernetes API,
// with the rights of the person. One person has one answer to a grant; another one replaces it.
import { createHash } from 'node:crypto'
import type { GrantApproval } from '../../../api/github/grant-approval.ts'
import type { RepositoryGrant } from '../../../api/github/repository-grant.ts'
import { AppError } from '../../../lib/errors.ts'
import { type Cluster, fieldManager, found } from '../../kubernetes/cluster.ts'
import { grantApprovals, repositoryGrants } from '../../kubernetes/kinds.ts'
import { whoIs } from '../../kubernetes/who-is.ts'
import { type ClusterFormat, present } from '../../output.ts'
import type { ClusterContext } from '../cluster-context.ts'

type WithdrawOptions = { readonly output: ClusterFormat; readonly dryRun?: boolean }
type AnswerOptions = WithdrawOptions & { readonly reason: string }

const answers = { approve: 'Approve', deny: 'Deny' } as const
const defaultLifetimeSeconds = 2_592_000

/** The same for each answer of one person to one grant: a repeated command makes no second object. */
function nameOf({ metadata: { name, uid } }: RepositoryGrant, user: string): string {
  const who = createHash('sha256').update(`${uid} ${user}`).digest('hex').slice(0, 12)
  return `${name.slice(0, 200)}-${who}`
}

/** What the person wants is what stands afterwards; the grant is decided again by the controllers. */
export function grantsAnswer(word: keyof typeof answers) {
  return async ({ cluster, terminal }: ClusterContext, options: AnswerOptions, name: string): Promise<void> => {
    const grant = await found(cluster, repositoryGrants, name)
    const { user: requestedBy } = await whoIs(cluster)
    if (requestedBy === grant.spec.requestedBy)
      throw new AppError(
        'forbidden',
        word === 'approve'
          ? `you requested ${name}: another admin of the tenant has to approve it`
          : `you requested ${name}: delete it instead, with kubectl delete repositorygrant ${name}`,
      )
    const dryRun = options.dryRun === true
    const { namespace } = cluster
    const answer = answers[word]
    await replace(cluster, dryRun, {
      apiVersion: grantApprovals.apiVersion,
      kind: grantApprovals.kind,
      metadata: { name: nameOf(grant, requestedBy), namespace },
      spec: {
        grant: { name, uid: grant.metadata.uid ?? '' },
        answer,
        reason: options.reason,
        lifetimeSeconds: defaultLifetimeSeconds,
        requestedBy,
      },
    })
    const said = `${dryRun ? 'would have ' : ''}${word === 'approve' ? 'approved' : 'denied'}`
    const text = () => `${said} ${name}: ${textOf(grant)}; see what comes of it with sekisho grants explain ${name}`
    await present(terminal, options.output, { value: { grant: name, namespace, answer, by: requestedBy, dryRun }, text })
  }
}

/** Nothing to do for the same answer. A dry run leaves another one in place, so it cannot try to create this one. */
async function replace({ client, namespace }: Cluster, dryRun: boolean, approval: Omit<GrantApproval, 'status'>): Promise<void> {
  const key = { namespace, name: approval.metadata.name }
  const standing = await client.get(grantApprovals, key)
  if (standing?.spec.answer === approval.spec.answer) return
  if (standing !== undefined) await client.delete(grantApprovals, key, { dryRun })
  if (standing === undefined || !dryRun) await client.create(grantApprovals, approval, { fieldManager, dryRun })
}

function textOf({ spec }: RepositoryGrant): string {
  const permissions = Object.entries(spec.permissions).map(([permission, level]) => `${permission}: ${level}`)
  const subjects = spec.subjects.map(({ kind, name }) => `${kind} ${name}`)
  return `${permissions.join(', ')} on ${spec.repositories.join(', ')} for ${subjects.join(', ')}`
}

/** Also answers that the person gave by kubectl, whatever their names. */
export async function grantsWithdraw(
  { cluster, terminal }: ClusterContext,
  options: WithdrawOptions,
  name: string,
): Promise<void> {
  const { client, namespace } = cluster
  const { user } = await whoIs(cluster)
  const all = await client.list(grantApprovals, { namespace })
  const own = all.filter(({ spec }) => spec.grant.name === name && spec.requestedBy === user)
  if (own.length === 0) throw new AppError('not_found', `you have not answered ${name}: see sekisho grants explain ${name}`)
  const dryRun = options.dryRun === true
  for (const { metadata } of own) await client.delete(grantApprovals, { namespace, name: metadata.name }, { dryRun })
  const value = { grant: name, namespace, withdrawn: own.map(({ spec }) => spec.answer), dryRun }
  const text = () => `${dryRun ? 'would have taken' : 'took'} back: ${value.withdrawn.join(', ')} for ${name}`
  await present(terminal, options.output, { value, text })
}
