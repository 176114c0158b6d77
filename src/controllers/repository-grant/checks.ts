// What must hold before the policy is asked about a grant: checks in order, each with its rule, its reason and the cure. Pure.
import { type RepositoryGrant, repositoryGrantReasons as reasons } from '../../api/github/repository-grant.ts'
import { personText } from '../../api/names.ts'
import type { RepositoryPermission } from '../../github/index.ts'
import { controllerOf } from '../../kube/object/owner.ts'
import type { Check, Refusal } from '../../policy/check.ts'
import { highestLevel, isWithinLevel, levelsOf, type PermissionLevel, permissionAbove } from '../../policy/permission-level.ts'
import type { Facts } from './gather.ts'
import type { Repository } from './probe.ts'

/** `rule` names the check, for the status and the audit log. */
export type GrantRefusal = Refusal & { readonly rule: string }

/**
 * The permission level that a person's role on a repository amounts to.
 * Source:
 * https://docs.github.com/en/organizations/managing-user-access-to-your-organizations-repositories/managing-repository-roles/repository-roles-for-an-organization
 */
const levelOfRole: Readonly<Record<RepositoryPermission, PermissionLevel | undefined>> = {
  none: undefined,
  read: 'read',
  triage: 'read',
  write: 'write',
  maintain: 'write',
  admin: 'admin',
}

/** Stops a level that GitHub does not have for the permission, such as `contents: admin`. */
const levelsExist: Check<Facts, GrantRefusal> = ({ object }) => {
  const unknown = Object.entries(object.spec.permissions).find(([name, level]) => !levelsOf(name).includes(level))
  if (!unknown) return undefined
  const [name, level] = unknown
  const message = `GitHub does not have ${name}: ${level}; the levels of ${name} are: ${levelsOf(name).join(', ')}`
  return { rule: 'levels-exist', reason: reasons.unknownPermissionLevel, message }
}

/** Stops a name that is not a repository which this installation reaches. */
const repositoriesExist: Check<Facts, GrantRefusal> = ({ answer }) => {
  if (answer.kind !== 'missing') return undefined
  const message = `the App's installation does not reach ${answer.names.join(', ')}: check the names, or add them to the installation on GitHub`
  return { rule: 'repositories-exist', reason: reasons.repositoryNotFound, message }
}

/** Stops a name that means another repository than the one that people were asked about. */
const repositoriesAreThoseAsked: Check<Facts, GrantRefusal> = ({ object, answer }) => {
  const { requestedRepositories: asked, repositories } = object.status ?? {}
  // From the first approval on the ids in `repositories` decide, whatever the names mean.
  if (answer.kind !== 'found' || asked === undefined || repositories !== undefined) return undefined
  const other = answer.repositories.find(({ id }) => !asked.some(one => one.id === id))
  if (other === undefined) return undefined
  const message = `${other.name} is another repository now (id ${other.id}) than those that people were asked about (${asked.map(({ id, name }) => `${name}: ${id}`).join(', ')}): delete the grant and create it again`
  return { rule: 'repositories-are-those-asked', reason: reasons.repositoryReplaced, message: message.slice(0, maxMessage) }
}

const maxMessage = 1000

/** One repository of a grant, with GitHub's answer about it. */
export type RepositoryFacts = { readonly facts: Facts; readonly found: Found; readonly repository: Repository }
type Found = Extract<Facts['answer'], { kind: 'found' }>
type RepositoryCheck = Check<RepositoryFacts, GrantRefusal>

/** Stops a repository of an approved grant that the installation does not reach any more. */
const repositoryIsReached: RepositoryCheck = ({ found, repository: { id, name } }) => {
  if (!found.missing.includes(id)) return undefined
  const message = `the App's installation does not reach ${name} (id ${id}) any more: it was deleted, transferred to another account, or taken out of the installation; transfer it back or select it there, or request a new grant`
  return { rule: 'repositories-exist', reason: reasons.repositoryNotFound, message }
}

/** Stops a repository that the Installation's ceiling does not contain. */
const repositoryWithinCeiling: RepositoryCheck = ({ facts: { installation }, repository: { id, name } }) => {
  const { ceiling } = installation?.spec ?? {}
  if (ceiling?.repositories === 'All' || ceiling?.repositoryIds?.includes(id)) return undefined
  const message = `${name} is not among the repositories of the Installation: an owner of the account takes over what is selected on GitHub, on the page /onboard of the platform`
  return { rule: 'repositories-within-ceiling', reason: reasons.aboveCeiling, message }
}

/**
 * Stops writing in an archived repository, which is read-only. Not for a grant that a RemoteSync or an AppPipeline owns: all it
 * writes are reports, whose GitHubReport says that GitHub refuses them (docs/adr/0085-repositories-end-one-by-one.md).
 * Source: https://docs.github.com/en/repositories/archiving-a-github-repository/archiving-repositories
 */
const repositoryTakesWrites: RepositoryCheck = ({ facts: { object }, found, repository: { id, name } }) => {
  if (!found.archived.includes(id) || controllerOf(object) !== undefined) return undefined
  const written = Object.entries(object.spec.permissions).find(([, level]) => level !== 'read')
  const message = `${name} is archived on GitHub, and nothing can be written there: unarchive it, or request a grant without ${written?.join(': ')}`
  return written && { rule: 'repositories-take-writes', reason: reasons.repositoryArchived, message }
}

/** Stops a permission above the Installation's ceiling. `metadata: read` comes with every token and is within every ceiling. */
const permissionsWithinCeiling: Check<Facts, GrantRefusal> = ({ object, installation }) => {
  const above = permissionAbove(object.spec.permissions, installation?.spec.ceiling.permissions ?? {})
  const message = `${above} is above what the Installation allows: request less, or an owner of the account onboards it again`
  return above === undefined ? undefined : { rule: 'permissions-within-ceiling', reason: reasons.aboveCeiling, message }
}

/**
 * How another person makes the request. A grant is immutable; the object that owns one can be given another requester, who gets
 * another grant.
 */
function takeOver(grant: RepositoryGrant): string {
  const owner = controllerOf(grant)
  if (owner === undefined) return 'delete the grant, and let that person create it again'
  const [kind, name, namespace] = [owner.kind.toLowerCase(), owner.name, grant.metadata.namespace]
  const patch = `kubectl patch ${kind} ${name} -n ${namespace} --type merge -p '{"spec":{"requestedBy":"<user name>"}}'`
  return `that person runs \`sekisho transfer ${kind}/${name}\`, or \`${patch}\` with the user name that \`kubectl auth whoami\` shows`
}

/**
 * Stops a requester without an account on this GitHub: a certificate or a person of another host has no access to pass on. For
 * a ServiceAccount those have to have it who approve.
 */
const requesterIsKnown: Check<Facts, GrantRefusal> = ({ object, answer }) => {
  if (answer.kind !== 'no-person' && (answer.kind !== 'found' || answer.requester.kind !== 'unknown')) return undefined
  const who = personText(object.spec.requestedBy, object.status?.requester?.login)
  const message = `${who} is not a person on the GitHub of this Installation: a person who is signed in with GitHub must make the request: ${takeOver(object)}`
  return { rule: 'requester-is-known', reason: reasons.requesterUnknown, message }
}

/** Stops a requester who lacks, on the repository, the access that the grant would pass on. */
const requesterHasAccess: RepositoryCheck = ({ facts: { object }, found: { requester }, repository: { id, name } }) => {
  if (requester.kind !== 'known') return undefined
  const needed = neededLevel(object)
  if (isWithinLevel(needed, levelOfRole[requester.permissions.get(id) ?? 'none'])) return undefined
  const message = `${requester.login} does not have ${needed} access to ${name} on GitHub: somebody who has it must make the request: ${takeOver(object)}`
  return { rule: 'requester-has-access', reason: reasons.requesterLacksAccess, message }
}

/** Of what a ServiceAccount requested: the first repository to which nobody who approved has the access that it would give. */
export function repositoryWithoutApprover(
  object: RepositoryGrant,
  answer: Facts['answer'],
  held: readonly Repository[],
): { readonly name: string; readonly level: PermissionLevel } | undefined {
  if (answer.kind !== 'found' || answer.requester.kind !== 'nobody') return undefined
  const { approvers } = answer.requester
  const level = neededLevel(object)
  const lacking = held.find(({ id }) => !approvers.get(id)?.some(role => isWithinLevel(level, levelOfRole[role])))
  return lacking && { name: lacking.name, level }
}

function neededLevel({ spec }: RepositoryGrant): PermissionLevel {
  return highestLevel(spec.permissions) ?? 'admin'
}

/** About the whole grant. The order matters: the first check that does not hold decides, and its rule is reported. */
export const checks: readonly Check<Facts, GrantRefusal>[] = [
  levelsExist,
  repositoriesExist,
  repositoriesAreThoseAsked,
  permissionsWithinCeiling,
  requesterIsKnown,
]

/** About each repository, after `checks`; in this order for each. */
export const repositoryChecks: readonly RepositoryCheck[] = [
  repositoryIsReached,
  repositoryWithinCeiling,
  repositoryTakesWrites,
  requesterHasAccess,
]
