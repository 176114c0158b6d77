// The proof that a person administers the account an installation is on: a list of checks, each with what it stops. Pure.
// `GET /user/installations` alone proves nothing: plain members see the installation too. Numeric ids decide; logins are display only.
// Source: https://docs.github.com/en/apps/creating-github-apps/registering-a-github-app/about-the-setup-url (spoofed installation_id)
import type { InstallationFacts, OrganizationMembership } from '../../github/index.ts'

export type ProofFacts = {
  readonly appId: number
  readonly personId: number
  /** Undefined when the person cannot see an installation of that id. */
  readonly installation: InstallationFacts | undefined
  /** The person's own membership in the organisation the installation is on; undefined for user accounts and non-members. */
  readonly membership: OrganizationMembership | undefined
}

export type ProofMethod = 'OrganizationOwner' | 'AccountHolder'

export type ProofOutcome =
  | { readonly proved: true; readonly method: ProofMethod; readonly installation: InstallationFacts }
  | { readonly proved: false; readonly check: string; readonly message: string }

type Check = { readonly name: string; readonly message: string; readonly holds: (facts: Seen) => boolean }
type Seen = ProofFacts & { readonly installation: InstallationFacts }

const checks: readonly Check[] = [
  {
    // Stops: an installation of somebody else's App, with permissions we never asked for.
    name: 'OurApp',
    message: 'this installation belongs to another GitHub App',
    holds: ({ installation, appId }) => installation.appId === appId,
  },
  {
    // Stops: a binding that can mint nothing, made while the owner has the App switched off.
    name: 'NotSuspended',
    message: 'the installation is suspended: resume it on GitHub first',
    holds: ({ installation }) => installation.suspendedAt === undefined,
  },
  {
    // Stops: a person who sees another person's installation.
    name: 'AccountHolder',
    message: 'only the account holder can bring a user account here',
    holds: ({ installation, personId }) => installation.account.type !== 'User' || installation.account.id === personId,
  },
  {
    // Stops: membership read from an organisation that took over the login.
    name: 'SameOrganization',
    message: 'only owners of the organisation can bring it here, and you are no member of it',
    holds: ({ installation, membership, personId }) =>
      installation.account.type !== 'Organization' ||
      (membership?.organizationId === installation.account.id && membership.userId === personId),
  },
  {
    // Stops: ordinary members and people who were only invited.
    name: 'ActiveOwner',
    message: 'only owners of the organisation can bring it here: ask one of them',
    holds: ({ installation, membership }) =>
      installation.account.type !== 'Organization' || (membership?.state === 'active' && membership.role === 'admin'),
  },
]

export function prove(facts: ProofFacts): ProofOutcome {
  const { installation } = facts
  // Stops: a guessed or copied installation id.
  if (installation === undefined)
    return {
      proved: false,
      check: 'Visible',
      message:
        'you cannot see this installation on GitHub; if the organisation uses single sign-on, sign in to it on GitHub first and try again',
    }
  const failed = checks.find(check => !check.holds({ ...facts, installation }))
  if (failed !== undefined) return { proved: false, check: failed.name, message: failed.message }
  const method = installation.account.type === 'Organization' ? 'OrganizationOwner' : 'AccountHolder'
  return { proved: true, method, installation }
}
