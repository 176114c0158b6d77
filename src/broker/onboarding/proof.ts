// The proof that a person administers the account that an installation is on, as a list of checks. Pure. `GET
// /user/installations` alone proves nothing: ordinary members see the installation too. Numeric ids decide; logins are for
// display only.
// Source: https://docs.github.com/en/apps/creating-github-apps/registering-a-github-app/about-the-setup-url (spoofed
// installation_id)
import type { InstallationFacts, OrganizationMembership } from '../../github/index.ts'
import { type Check, firstRefusal, type Refusal } from '../../policy/check.ts'

export type ProofFacts = {
  readonly appId: number
  readonly personId: number
  /** Undefined when the person cannot see an installation of that id. */
  readonly installation: InstallationFacts | undefined
  /** The person's own membership in the organisation that the installation is on; undefined for user accounts and non-members. */
  readonly membership: OrganizationMembership | undefined
}

export type ProofMethod = 'OrganizationOwner' | 'AccountHolder'

export type ProofOutcome =
  | { readonly proved: true; readonly method: ProofMethod; readonly installation: InstallationFacts }
  | { readonly proved: false; readonly refusal: Refusal }

type ProofCheck = Check<ProofFacts & { readonly installation: InstallationFacts }>

/** Stops: a guessed or copied installation id. */
const notVisible: Refusal = {
  reason: 'Visible',
  message:
    'you cannot see this installation on GitHub; if the organisation uses single sign-on, sign in to it on GitHub and try again',
}

/** Stops: an installation of another App, with permissions that we never requested. */
const isOfOurApp: ProofCheck = ({ installation, appId }) =>
  installation.appId === appId ? undefined : { reason: 'OurApp', message: 'this installation belongs to another GitHub App' }

/** Stops: a binding that cannot mint anything, made while the owner has suspended the App. */
const isNotSuspended: ProofCheck = ({ installation }) =>
  installation.suspendedAt === undefined
    ? undefined
    : { reason: 'NotSuspended', message: 'the installation is suspended: unsuspend it on GitHub, then try again' }

/** Stops: a person who sees the installation on another person's account. */
const isAccountHolder: ProofCheck = ({ installation: { account }, personId }) =>
  account.type !== 'User' || account.id === personId
    ? undefined
    : { reason: 'AccountHolder', message: 'only the account holder can onboard a user account' }

/** Stops: a membership read from an organisation that took over the login. */
const isMemberOfSameOrganization: ProofCheck = ({ installation: { account }, membership, personId }) =>
  account.type !== 'Organization' || (membership?.organizationId === account.id && membership.userId === personId)
    ? undefined
    : {
        reason: 'SameOrganization',
        message: 'only owners of the organisation can onboard it here, and you are not a member: ask one of its owners',
      }

/** Stops: ordinary members, and people who were invited but have not accepted. */
const isActiveOwner: ProofCheck = ({ installation: { account }, membership }) =>
  account.type !== 'Organization' || (membership?.state === 'active' && membership.role === 'admin')
    ? undefined
    : { reason: 'ActiveOwner', message: 'only owners of the organisation can onboard it here: ask one of them' }

const checks = [isOfOurApp, isNotSuspended, isAccountHolder, isMemberOfSameOrganization, isActiveOwner]

/** The reason of a refusal is the name of the check in the audit log. */
export function prove(facts: ProofFacts): ProofOutcome {
  const { installation } = facts
  if (installation === undefined) return { proved: false, refusal: notVisible }
  const refusal = firstRefusal(checks, { ...facts, installation })
  if (refusal !== undefined) return { proved: false, refusal }
  const method = installation.account.type === 'Organization' ? 'OrganizationOwner' : 'AccountHolder'
  return { proved: true, method, installation }
}
