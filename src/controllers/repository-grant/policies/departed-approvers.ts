// Which of those who approved a grant have left the organization since: their approvals end
// (docs/adr/0091-who-stands-behind-a-grant.md). Asked of GitHub whenever it is asked about the grant. Rejects when something
// cannot be found out.
import type { GrantApproval } from '../../../api/github/grant-approval.ts'
import type { Installation } from '../../../api/github/installation.ts'
import type { RepositoryGrant } from '../../../api/github/repository-grant.ts'
import { parseUserSubject } from '../../../api/names.ts'
import type { Tenant } from '../../../api/tenancy/tenant.ts'
import { type Answers, isBreakGlass } from '../../../policy/grants/approvals.ts'
import type { GitHubApp } from '../../../services/token-desk/app-clients.ts'
import { type OrganizationReaderDeps, readOrganization, roleIn } from './organization-reader.ts'

/** An approval that does not count any more, whoever its author is now. */
export type EndedApproval = NonNullable<NonNullable<RepositoryGrant['status']>['endedApprovals']>[number]

export type ApproversQuestion = {
  readonly grant: RepositoryGrant
  readonly answers: Answers
  readonly installation: Installation
  readonly tenant: Tenant | undefined
}

/** Each costs two requests to GitHub, and two more or five where something changed. A policy requires five at most. */
const maxAsked = 10

/**
 * Their user names. Nobody is asked about for a personal account, without approvals, or while the App may not read members; nor
 * is whom the Tenant names as an admin in person, who need not be a member.
 */
export async function departedApprovers(
  deps: OrganizationReaderDeps,
  app: GitHubApp,
  { grant, answers, installation, tenant }: ApproversQuestion,
): Promise<ReadonlySet<string>> {
  const { account, installationId } = installation.spec
  const named = new Set(
    tenant?.spec.roles.flatMap(({ role, subject }) => (role === 'admin' && subject.type === 'User' ? [subject.id] : [])),
  )
  const asked = answers.approvals
    .flatMap(({ by }) => {
      const id = parseUserSubject(by)?.userId
      return id === undefined || named.has(id) ? [] : [{ by, id }]
    })
    .slice(0, maxAsked)
  if (asked.length === 0 || account.type === 'User' || installation.status?.permissions?.['members'] === undefined)
    return new Set()
  const { namespace = '', name } = grant.metadata
  const question = {
    grant: { namespace, name },
    installationId,
    reason: 'do those who approved the grant still belong to the organization',
  }
  const departed = await readOrganization(deps, app, question, async reader => {
    const found = new Set<string>()
    for (const { by, id } of asked) if ((await roleIn(reader, account, id)) === undefined) found.add(by)
    return found
  })
  return departed ?? new Set()
}

/** Of the answers that name the grant, those that end with their authors' leaving, after those that ended before and exist. */
export function endedApprovals(
  approvals: readonly GrantApproval[],
  { status }: RepositoryGrant,
  departed: ReadonlySet<string>,
): readonly EndedApproval[] {
  const before = new Set(status?.endedApprovals?.map(({ uid }) => uid))
  return approvals.flatMap(approval => {
    const { metadata, spec } = approval
    const uid = metadata.uid ?? ''
    const isDeparted = departed.has(spec.requestedBy) && spec.answer === 'Approve' && !isBreakGlass(approval)
    return before.has(uid) || isDeparted ? [{ uid, by: spec.requestedBy }] : []
  })
}
