// Asks GitHub, as the App, whether the person who bound an organisation still owns it. Needs the App's permission members: read; the
// token for it reads members and nothing of any repository, is audited before it exists, used at once and revoked. Logins change
// hands, so the person is found by id first and every answer is compared by id.
// Source: https://docs.github.com/en/rest/orgs/members#get-organization-membership-for-a-user
import type { AuditRecord } from '../../api/audit-event.ts'
import type { Installation } from '../../api/installation.ts'
import { createOrganizationDoor, createRepositoryDoor, type Fetch, type InstallationFacts } from '../../github/index.ts'
import type { Clock } from '../../lib/clock.ts'
import { messageOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { SecretString } from '../../lib/secret-string.ts'
import type { GitHubAppDoor } from '../github-apps.ts'

export type OwnerFinding =
  | { readonly kind: 'owner' }
  | { readonly kind: 'not-owner'; readonly message: string }
  /** The App may not read members: the proof of the day of binding is all there is. */
  | { readonly kind: 'not-checkable' }
  /** Asked recently enough. */
  | { readonly kind: 'not-due' }

export type OwnerCheckDeps = {
  readonly audit: { readonly append: (record: AuditRecord) => Promise<unknown> }
  readonly log: Log
  readonly clock: Clock
  readonly fetch?: Fetch
}

/** Throws AppError when GitHub or the audit log cannot be reached: then nothing was learned. */
export async function checkOwner(
  deps: OwnerCheckDeps,
  app: GitHubAppDoor,
  object: Installation,
  facts: InstallationFacts,
): Promise<OwnerFinding> {
  if (facts.permissions['members'] === undefined) return { kind: 'not-checkable' }
  const record = auditRecordFor(app, object)
  await deps.audit.append(record('token.intended', 'allowed'))
  const { token } = await minted(deps, app, object, record)
  try {
    await deps.audit.append(record('token.minted', 'allowed'))
    return await membership(deps, app, object, facts, token)
  } finally {
    await revoked(deps, app, token, record)
  }
}

type RecordOf = (action: AuditRecord['action'], outcome: AuditRecord['outcome']) => AuditRecord

function auditRecordFor(app: GitHubAppDoor, object: Installation): RecordOf {
  const { namespace = '', name } = object.metadata
  const { installationId } = object.spec
  return (action, outcome) => ({
    action,
    actor: 'sekisho:installation-controller',
    namespace,
    object: `Installation/${namespace}/${name}`,
    outcome,
    reason: 'does the person who bound the organisation still own it',
    details: { host: app.endpoints.host, appId: app.appId, installationId, permissions: { members: 'read' } },
  })
}

async function minted(deps: OwnerCheckDeps, app: GitHubAppDoor, object: Installation, record: RecordOf) {
  try {
    return await app.door.mintOrganizationReader(object.spec.installationId)
  } catch (error) {
    await deps.audit.append(record('token.refused', 'failed'))
    throw error
  }
}

/** A token that GitHub does not take back ends by itself within the hour; the audit log says so. */
async function revoked(deps: OwnerCheckDeps, app: GitHubAppDoor, token: SecretString, record: RecordOf): Promise<void> {
  try {
    await app.door.revoke(token)
  } catch (error) {
    deps.log.error({ problem: messageOf(error) }, 'a token that reads members could not be revoked')
    await deps.audit.append(record('token.revoked', 'failed'))
    return
  }
  await deps.audit.append(record('token.revoked', 'allowed'))
}

async function membership(
  deps: OwnerCheckDeps,
  app: GitHubAppDoor,
  object: Installation,
  facts: InstallationFacts,
  token: SecretString,
): Promise<OwnerFinding> {
  const { log, clock, fetch } = deps
  const doorDeps = { endpoints: app.endpoints, token, log, clock, ...(fetch === undefined ? {} : { fetch }) }
  const { boundBy } = object.spec
  const notOwner = (what: string): OwnerFinding => ({
    kind: 'not-owner',
    message: `${boundBy.login} (id ${boundBy.id}) ${what} ${facts.account.login}: an owner has to onboard the organisation again`,
  })
  const person = await createRepositoryDoor(doorDeps).userById(boundBy.id)
  if (person === undefined) return notOwner('is no longer on GitHub and cannot own')
  const found = await createOrganizationDoor(doorDeps).membership(facts.account.login, person.login)
  const same = found?.organizationId === facts.account.id && found.userId === boundBy.id
  if (!found || !same) return notOwner('is no longer a member of')
  if (found.state !== 'active' || found.role !== 'admin') return notOwner('is no longer an owner of')
  return { kind: 'owner' }
}
