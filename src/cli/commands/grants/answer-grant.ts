// `sekisho grants approve`, `deny` and `withdraw`: the answer of the person to one grant, as an object of the Kubernetes API,
// with the rights of the person. The newest answer of a person counts.
import type { GrantApproval } from '../../../api/github/grant-approval.ts'
import { permissionsText, subjectsText } from '../../../api/github/repository-grant/access-text.ts'
import type { RepositoryGrant } from '../../../api/github/repository-grant.ts'
import type { NewObject } from '../../../kube/client/client.ts'
import { AppError } from '../../../lib/errors.ts'
import { defined } from '../../../lib/json/defined.ts'
import { isAbout } from '../../../policy/grants/approvals.ts'
import { fieldManager, found } from '../../kubernetes/cluster.ts'
import { grantApprovals, repositoryGrants } from '../../kubernetes/kinds.ts'
import { whoIs } from '../../kubernetes/who-is.ts'
import { type ClusterFormat, present } from '../../output.ts'
import type { ClusterContext } from '../cluster-context.ts'

type WithdrawOptions = { readonly output: ClusterFormat; readonly dryRun?: boolean }
type AnswerOptions = WithdrawOptions & { readonly reason: string }
type ApproveOptions = AnswerOptions & {
  readonly uid: string
  readonly breakGlass?: boolean
  /** How long it counts, in seconds. */
  readonly for?: number
}

/** Of break-glass, without another wish; the API server allows an hour. */
const breakGlassSeconds = 1800

const answers = { Approve: 'approved', Deny: 'denied' } as const

/** `uid`: of the grant that the person looked at, so that one that was created again meanwhile is not approved. */
export async function grantsApprove(context: ClusterContext, options: ApproveOptions, name: string): Promise<void> {
  const grant = await found(context.cluster, repositoryGrants, name)
  if (grant.metadata.uid !== options.uid)
    throw new AppError(
      'conflict',
      `${name} is another grant (UID ${grant.metadata.uid}) than --uid says: look at it again with sekisho grants explain ${name}`,
    )
  const opened = options.breakGlass === true
  const lifetimeSeconds = options.for ?? (opened ? breakGlassSeconds : undefined)
  const more = { ...(opened ? { breakGlass: true } : {}), ...defined({ lifetimeSeconds }) }
  const own = opened ? 'another platform admin has to' : 'another admin of the tenant has to approve it'
  return answer(context, options, { grant, answer: 'Approve', own, more })
}

export async function grantsDeny(context: ClusterContext, options: AnswerOptions, name: string): Promise<void> {
  const grant = await found(context.cluster, repositoryGrants, name)
  const own = `delete it instead, with kubectl delete repositorygrant ${name}`
  return answer(context, options, { grant, answer: 'Deny', own })
}

type Given = {
  readonly grant: RepositoryGrant
  readonly answer: keyof typeof answers
  readonly own: string
  readonly more?: Partial<GrantApproval['spec']>
}

/** Creates the answer, then deletes those before it: at no time does the person have none. */
async function answer(
  { cluster, terminal }: ClusterContext,
  options: AnswerOptions,
  { grant, answer, own, more = {} }: Given,
): Promise<void> {
  const { client, namespace } = cluster
  const { name, uid = '' } = grant.metadata
  const { user: by } = await whoIs(cluster)
  if (by === grant.spec.requestedBy) throw new AppError('forbidden', `you requested ${name}: ${own}`)
  const before = (await client.list(grantApprovals, { namespace })).filter(
    approval => isAbout(approval, grant) && approval.spec.requestedBy === by,
  )
  const dryRun = options.dryRun === true
  const { apiVersion, kind } = grantApprovals
  const metadata = { generateName: `${name.slice(0, 200)}-`, namespace }
  const spec = { grant: { name, uid }, answer, reason: options.reason, ...more }
  await client.create(grantApprovals, { apiVersion, kind, metadata, spec } as NewObject<GrantApproval>, { fieldManager, dryRun })
  for (const { metadata } of before) await client.delete(grantApprovals, { namespace, name: metadata.name }, { dryRun })
  const said = `${dryRun ? 'would have ' : ''}${answers[answer]}${more.breakGlass ? ` by break-glass, for ${more.lifetimeSeconds} seconds,` : ''}`
  const text = () => `${said} ${name}: ${textOf(grant)}; see what comes of it with sekisho grants explain ${name}`
  await present(terminal, options.output, { value: { grant: name, uid, namespace, answer, ...more, by, dryRun }, text })
}

function textOf({ spec }: RepositoryGrant): string {
  return `${permissionsText(spec.permissions)} on ${spec.repositories.join(', ')} for ${subjectsText(spec.subjects)}`
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
