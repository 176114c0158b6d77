// Installation: binds a namespace to an installation of the GitHub App, with the proof that the person who bound it administers
// the account. Only the broker creates it, and of its spec only the stand-ins change afterwards.
import { ageColumn, defineKind, type ObjectOf, readyColumns } from '../kind.ts'
import { defineReasons, rightMissing } from '../reasons/reason.ts'
import {
  accountField,
  numericId,
  objectName,
  observedWakeField,
  permissionLevel,
  reportedPermissions,
  timestamp,
} from '../schema/fields.ts'
import { choice, list, map, object, optional, text } from '../schema/schema.ts'

const reasons = defineReasons(
  {
    ready: {
      Verified:
        'GitHub confirms the installation and, if the App may read members, that the person who bound it, or one who stands in, owns the account.',
    },
    machine: {
      GitHubUnreachable: 'GitHub does not answer, or limits the rate of requests. The platform tries again.',
    },
    person: {
      AppNotReady: 'The ClusterGitHubApp that `spec.app` names does not exist or is not ready.',
      InstallationNotFound:
        'The App is not installed on the account any more. Install it again on GitHub, then onboard the account again.',
      InstallationSuspended: 'The installation is suspended on GitHub. Unsuspend it in the settings of the account there.',
      BinderNoLongerOwner:
        'The person who bound the installation does not own the organization any more, and nobody who stands in does. Another owner takes over the binding on the page of the tenant.',
      CeilingAboveGitHub:
        'GitHub no longer grants a permission that `spec.ceiling` contains. An owner must onboard the account again.',
    },
    failed: {
      AccountMismatch: 'The installation belongs to another account than `spec.account`, or the proof does not fit the account.',
      AppMismatch: 'The installation belongs to another App than the ClusterGitHubApp.',
    },
  },
  {
    notFound: 'InstallationNotFound',
    suspended: 'InstallationSuspended',
    ownerLost: 'BinderNoLongerOwner',
    unreachable: 'GitHubUnreachable',
  },
  rightMissing,
)

/** Reasons of the conditions. */
export const installationReasons = reasons.names

/** How many people stand in for a binding at most: each may cost two requests when the owner is checked. */
export const maxStandIns = 5

export const installation = defineKind({
  group: 'github',
  kind: 'Installation',
  plural: 'installations',
  shortNames: ['ghi'],
  scope: 'Namespaced',
  description:
    'An installation of the GitHub App that an owner of the account bound to this namespace. It limits what the namespace can reach on GitHub.',
  writtenBy:
    'Only the platform, when an owner of the account signs in and onboards it. Of the `spec` only `standIns` changes afterwards, when an owner stands in or one is taken away.',
  immutableSpec: { except: ['standIns'] },
  tenantAccess: 'read',
  spec: object(
    {
      app: objectName('The name of the ClusterGitHubApp that is installed.'),
      installationId: numericId('The numeric id of the installation on GitHub.'),
      account: accountField,
      boundBy: object(
        {
          id: numericId('The numeric id of the person on GitHub.'),
          login: text({ description: 'The login of the person at that time, for display only.', max: 100 }),
        },
        { description: 'The person who bound the installation to this namespace.' },
      ),
      proof: object(
        {
          method: choice(['OrganizationOwner', 'AccountHolder'], {
            description:
              'What GitHub confirmed: `OrganizationOwner`, the person is an active owner of the organization, or `AccountHolder`, the person is the account itself.',
          }),
          provedAt: timestamp('When GitHub confirmed it.'),
        },
        { description: 'The proof that the person administers the account.' },
      ),
      ceiling: object(
        {
          repositories: choice(['All', 'Selected'], {
            description: '`All`: every repository of the installation on GitHub. `Selected`: only those in `repositoryIds`.',
          }),
          repositoryIds: optional(
            list(numericId('The numeric id of a repository.'), {
              description: 'The repositories that grants may reach, if `repositories` is `Selected`.',
              max: 1000,
              unique: 'set',
            }),
          ),
          permissions: map(permissionLevel, {
            description: 'The highest level of each permission that grants may request, such as `contents: read`.',
            max: 60,
          }),
        },
        { description: 'The limit for all grants under this Installation, chosen by the owner who bound it.' },
      ),
      standIns: optional(
        list(
          object(
            {
              id: numericId('The numeric id of the person on GitHub.'),
              login: text({ description: 'The login of the person at that time, for display only.', max: 100 }),
              proof: object(
                {
                  method: choice(['OrganizationOwner'], {
                    description: 'What GitHub confirmed: the person is an active owner of the organization.',
                  }),
                  provedAt: timestamp('When GitHub confirmed it.'),
                },
                { description: 'The proof that the person owns the account.' },
              ),
            },
            { description: 'An owner who confirmed the binding with its `ceiling`.' },
          ),
          {
            description:
              'Other owners of the organization, who confirmed this binding with this `ceiling`: it holds as long as the person who bound it or one of them owns the account.',
            max: maxStandIns,
            min: 1,
            unique: ['id'],
          },
        ),
      ),
    },
    {
      description: 'The binding of the installation to the namespace.',
      rules: [
        {
          rule: "!has(self.standIns) || self.account.type == 'Organization'",
          message: 'only for an organisation somebody stands in: a user account has one holder',
          reason: 'FieldValueInvalid',
          fieldPath: '.standIns',
        },
        {
          rule: '!has(self.standIns) || self.standIns.all(one, one.id != self.boundBy.id)',
          message: 'who bound the installation does not stand in, too',
          reason: 'FieldValueInvalid',
          fieldPath: '.standIns',
        },
      ],
    },
  ),
  status: {
    appId: optional(
      numericId('The ID of the App at the last check. Tokens can be revoked with it even after the ClusterGitHubApp is deleted.'),
    ),
    repositorySelection: optional(
      choice(['all', 'selected'], {
        description:
          'Whether the installation on GitHub covers all repositories of the account or selected ones, as GitHub reports it.',
      }),
    ),
    permissions: optional(reportedPermissions('The permissions of the installation, as GitHub reports them.')),
    verifiedAt: optional(timestamp('When GitHub last confirmed the installation; at most half a day behind the last check.')),
    ownerCheckedAt: optional(
      timestamp('When GitHub last confirmed that the person who bound the installation, or one who stands in, owns the account.'),
    ),
    ownerLostAt: optional(timestamp('When GitHub last answered that none of them owns the account.')),
    standIn: optional(
      object(
        {
          id: numericId('The numeric id of the person on GitHub.'),
          login: text({ description: 'The login of the person, as in `spec.standIns`.', max: 100 }),
        },
        {
          description:
            'Who of `spec.standIns` answers for the binding, because the person who bound it does not own the account any more.',
        },
      ),
    ),
    otherApps: optional(
      list(
        object(
          {
            app: objectName('The name of the ClusterGitHubApp.'),
            installationId: numericId('The numeric id of its installation on GitHub.'),
            permissions: reportedPermissions('The permissions of that installation, as GitHub reports them.'),
          },
          { description: 'One App.' },
        ),
        {
          description:
            'Other Apps in the pool of the App that are installed on the account, too, as GitHub reports them. They are used when an owner has bound them on the page of the tenant.',
          max: 10,
        },
      ),
    ),
    observedWake: observedWakeField,
  },
  conditions: {
    Verified: 'GitHub confirmed everything at the last check.',
    Ready: 'The Installation can be used. It stays True for up to one day while GitHub does not answer.',
  },
  reasons,
  columns: [
    { name: 'Account', type: 'string', jsonPath: '.spec.account.login' },
    { name: 'App', type: 'string', jsonPath: '.spec.app', priority: 1 },
    { name: 'Installation', type: 'integer', jsonPath: '.spec.installationId' },
    { name: 'Bound by', type: 'string', jsonPath: '.spec.boundBy.login' },
    ...readyColumns,
    ageColumn,
  ],
})

export type Installation = ObjectOf<typeof installation>

/** Who stands in for a binding. */
export type StandIn = NonNullable<Installation['spec']['standIns']>[number]

/** The people of whom one has to own the account, in the order in which GitHub is asked about them. */
export function answerable({ spec }: Pick<Installation, 'spec'>): readonly Installation['spec']['boundBy'][] {
  return [spec.boundBy, ...(spec.standIns ?? [])]
}

/** False when the person who last answered for the binding, in place of who bound it, does not stand in any more. */
export function isAnsweredFor({ spec, status }: Pick<Installation, 'spec' | 'status'>): boolean {
  const { standIn } = status ?? {}
  return standIn === undefined || (spec.standIns ?? []).some(({ id }) => id === standIn.id)
}
