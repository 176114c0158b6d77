// Installation: the proof-backed binding of a namespace to an App installation. The broker alone creates it; nobody changes it afterwards.

import { defineKind, type ObjectOf } from '../kind.ts'
import { accountField, numericId, objectName, permissionLevel } from '../schema/fields.ts'
import { choice, list, map, object, optional, text } from '../schema/schema.ts'

export const installation = defineKind({
  group: 'github',
  kind: 'Installation',
  plural: 'installations',
  shortNames: ['ghi'],
  scope: 'Namespaced',
  description: 'An installation of the GitHub App that a proven owner of the account bound to this namespace.',
  immutableSpec: true,
  tenantAccess: 'read',
  spec: object(
    {
      app: objectName('The ClusterGitHubApp.'),
      installationId: numericId('The installation id on GitHub.'),
      account: accountField,
      boundBy: object(
        {
          id: numericId('The numeric id of the person.'),
          login: text({ description: 'The login, for display only.', max: 100 }),
        },
        { description: 'Who bound it.' },
      ),
      proof: object(
        {
          method: choice(['OrganizationOwner', 'AccountHolder'], {
            description: 'What was proved: an active admin membership, or being the account.',
          }),
          provedAt: text({ description: 'When.', max: 64, format: 'date-time' }),
        },
        { description: 'The proof that the person administers the account.' },
      ),
      ceiling: object(
        {
          repositories: choice(['All', 'Selected'], {
            description: 'All repositories of the installation, or only those listed.',
          }),
          repositoryIds: optional(
            list(numericId('A repository id.'), { description: 'The repositories, when Selected.', max: 1000, unique: 'set' }),
          ),
          permissions: map(permissionLevel, { description: 'The most that any grant may ask for.', max: 60 }),
        },
        { description: 'What grants under this installation can never exceed.' },
      ),
    },
    { description: 'The binding.' },
  ),
  status: {
    appId: optional(numericId('The App it was last found under; tokens are revoked by it even when the App object is gone.')),
    repositorySelection: optional(choice(['all', 'selected'], { description: 'What GitHub says.' })),
    permissions: optional(
      map(text({ description: 'Level.', max: 16 }), { description: 'The permissions GitHub reports.', max: 100 }),
    ),
    verifiedAt: optional(
      text({
        description: 'When the App last confirmed it with its own key, the owner included.',
        max: 64,
        format: 'date-time',
      }),
    ),
    observedWake: optional(text({ description: 'The wake annotation that the last confirmation had seen.', max: 512 })),
  },
  columns: [
    { name: 'Account', type: 'string', jsonPath: '.spec.account.login' },
    { name: 'Installation', type: 'integer', jsonPath: '.spec.installationId' },
    { name: 'Bound by', type: 'string', jsonPath: '.spec.boundBy.login' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Reason', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].reason' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
})

export type Installation = ObjectOf<typeof installation>

export const installationReasons = {
  verified: 'Verified',
  appNotReady: 'AppNotReady',
  notFound: 'InstallationNotFound',
  suspended: 'InstallationSuspended',
  accountMismatch: 'AccountMismatch',
  appMismatch: 'AppMismatch',
  ownerLost: 'BinderNoLongerOwner',
  ceilingAboveGitHub: 'CeilingAboveGitHub',
  unreachable: 'GitHubUnreachable',
} as const
