// Tenant: a GitHub account that has a place on the platform, with namespaces, roles and limits. The broker writes it at
// onboarding, and platform admins do; a tenant never does.
import { ageColumn, defineKind, type ObjectOf, readyColumns } from '../kind.ts'
import { defineReasons, rightMissing } from '../reasons/reason.ts'
import { accountField, dnsLabel, numericId, observedWakeField, timestamp } from '../schema/fields.ts'
import { choice, integer, list, object, optional, text } from '../schema/schema.ts'
import { resourceLimitsField } from './resource-limits.ts'
import { runtimeClassesField, runtimeClassFields } from './runtime-classes.ts'

/** What the platform's settings and Tenants may say about kept build logs. */
export const buildLogBounds = { days: { min: 1, max: 3650 }, megabytes: { min: 64, max: 65_536 } } as const

/** Of Linux: https://man7.org/linux/man-pages/man7/credentials.7.html */
const maxUserId = 2 ** 32 - 2

const reasons = defineReasons(
  {
    ready: {
      NamespacesReady: 'Both namespaces can be used.',
      TeamsFound: 'All teams exist, or no role is for a team.',
      InstallationsReady: 'Every Installation of the namespace is ready.',
      WallsHold: 'The platform compared and tried its walls, and found all of them in place.',
      PoliciesEnforced: 'The connections that the network policies of the platform forbid were refused, in both directions.',
    },
    progress: {
      NamespaceTerminating: 'A namespace of the tenant is being deleted. The platform creates it again when it is gone.',
      QuotaNotCounted:
        'The cluster has not counted the new quota yet. Nothing can be created in the namespace before; this takes seconds.',
      InstallationsPending:
        'The namespace has no Installation yet, or one of them waits for GitHub or is being checked. The message has its reason.',
      TeamsNotChecked:
        'GitHub was not asked about the teams yet, does not answer, or the App may not read them. The roles apply nevertheless.',
      WallsNotProbed:
        'It is not known yet whether all walls hold: the platform has not looked at them, or had no answer. The message says of which.',
      PoliciesNotProbed:
        'Enforcement is not known yet: the probe of the platform was not reached. See the Deployment `sekisho-network-probe`.',
    },
    person: {
      NamespaceTaken:
        'A namespace with this name exists and was not created for this Tenant. Delete it, or create a Tenant with another namespace.',
      NamespaceHeld:
        'A namespace of the tenant is being deleted and does not end, because finalizers that the platform did not set hold objects in it. The message names them.',
      InstallationNotReady:
        'An Installation of the namespace is not ready, so that nothing of its account can be reached on GitHub. The message has its reason and the cure.',
      NoUserRange: 'Every range of user ids belongs to another Tenant. Delete a Tenant that is not used.',
      RuntimeClassNotUsable:
        'A RuntimeClass that the Tenant or the platform names does not exist, or cannot be used. No pod of the tenant starts with it; the message has the cure.',
      RegistryCredentialMissing:
        'The image registry has accounts of its own, and a platform admin has not yet created the Secret with the account of this tenant.',
      WallOff:
        'A wall of the platform is not as this version ships it, or did not refuse what it must refuse. The message names it; `docs/guide/operations.md` has the cure.',
      PoliciesNotEnforced:
        'The platform opened a connection that a network policy forbids: pods of all tenants reach each other, the platform and the nodes. Use a network plugin that enforces network policies.',
    },
    failed: {
      UnknownTeam:
        'The organization has no team with one of the ids, so that role has no members. Correct `subject.id`, or remove the role.',
    },
  },
  { ready: 'NamespacesReady', terminating: 'NamespaceTerminating', rolesResolved: 'TeamsFound' },
  rightMissing,
)

/** Reasons of the conditions. */
export const tenantReasons = reasons.names

export const tenant = defineKind({
  group: 'tenancy',
  kind: 'Tenant',
  plural: 'tenants',
  shortNames: ['tn'],
  scope: 'Cluster',
  adminAccess: 'write',
  description: 'A GitHub account that uses the platform: its namespace, the roles of its people and teams, and its limits.',
  writtenBy: 'The platform, when an owner of the account onboards it, and platform admins.',
  spec: object(
    {
      account: accountField,
      namespace: text({
        description:
          'The namespace of the tenant. The platform creates it, and a second one named `<namespace>-build` in which builds run and where the tenant has no access.',
        max: 57,
        pattern: dnsLabel,
      }),
      roles: list(
        object(
          {
            role: choice(['viewer', 'developer', 'admin', 'auditor'], {
              description:
                'The role in the namespace: `viewer` reads, `developer` also deploys, `admin` has the rights of a developer and reads the audit log of the tenant, `auditor` reads that log and what decides about access, and nothing of applications.',
            }),
            subject: object(
              {
                type: choice(['Team', 'Owners', 'Members', 'User'], {
                  description:
                    'Who gets the role: one team of the organization, all of its owners, all of its members, or one person.',
                }),
                id: optional(
                  numericId(
                    'The numeric id of the team or person on GitHub. Required for `Team` and `User`, not allowed for the others.',
                  ),
                ),
                name: optional(
                  text({ description: 'The slug of the team or the login of the person, for display only.', max: 100 }),
                ),
              },
              {
                description: 'The people on GitHub who get the role.',
                rules: [
                  {
                    rule: "has(self.id) == (self.type in ['Team', 'User'])",
                    message: 'subject.id must be set for Team and User, and only for them',
                  },
                ],
              },
            ),
          },
          { description: 'One role for one group of people.' },
        ),
        { description: 'Which people on GitHub have which role in the namespace.', max: 100 },
      ),
      builder: optional(
        text({
          description:
            'The builder of all RemoteSyncs of the tenant that name none in `spec.build.builder`, by its name in `SEKISHO_BUILDERS`. The builder of the platform when omitted.',
          max: 63,
          pattern: dnsLabel,
        }),
      ),
      ...runtimeClassFields,
      limits: optional(
        object(
          {
            concurrentBuilds: integer({
              description: 'How many builds of the tenant may run at once. Further builds wait.',
              min: 1,
              max: 50,
              default: 2,
            }),
            tokensPerHour: integer({
              description: 'How many GitHub tokens may be issued to the tenant in an hour.',
              min: 1,
              max: 5000,
              default: 600,
            }),
            applications: integer({
              description:
                'How many Applications may exist in the namespace, and how many objects of each kind that follows a repository, such as RemoteSync.',
              min: 1,
              max: 1000,
              default: 50,
            }),
            services: optional(
              integer({
                description:
                  'How many ServiceInstances may exist in the namespace, and as many Buckets. Databases and buckets that were kept when their object was deleted do not count. Two for each of `applications` when omitted.',
                min: 0,
                max: 2000,
              }),
            ),
            resources: optional(resourceLimitsField),
            buildLogs: optional(
              object(
                {
                  days: optional(
                    integer({
                      description:
                        'The days after which the log of a build that has ended is deleted. `SEKISHO_BUILD_LOG_DAYS` of the platform when omitted.',
                      ...buildLogBounds.days,
                    }),
                  ),
                  megabytes: optional(
                    integer({
                      description:
                        'The most that the build logs of the tenant may take in the database, compressed, in megabytes (2^20 bytes); the oldest are deleted first. `SEKISHO_BUILD_LOG_TENANT_MEGABYTES` of the platform when omitted.',
                      ...buildLogBounds.megabytes,
                    }),
                  ),
                },
                { description: 'How long, and how much of, the build logs of the tenant are kept.' },
              ),
            ),
          },
          { description: 'How much the tenant may use of what all tenants share. Every limit has a default.' },
        ),
      ),
    },
    {
      description: 'The account, its namespace, roles and limits.',
      rules: [
        {
          rule: 'self.account.id == oldSelf.account.id && self.account.host == oldSelf.account.host',
          message: 'account.id and account.host cannot change: create another Tenant',
          fieldPath: '.account',
          reason: 'FieldValueForbidden',
        },
        {
          rule: 'self.__namespace__ == oldSelf.__namespace__',
          message: 'namespace cannot change: create another Tenant',
          fieldPath: '.namespace',
          reason: 'FieldValueForbidden',
        },
      ],
    },
  ),
  status: {
    namespace: optional(text({ description: 'The namespace of the tenant, once it is ready for use.', max: 63 })),
    buildNamespace: optional(text({ description: 'The namespace in which builds run, once it is ready for use.', max: 63 })),
    users: optional(
      object(
        {
          first: integer({ description: 'The first id.', min: 1, max: maxUserId }),
          last: integer({ description: 'The last id.', min: 1, max: maxUserId }),
        },
        {
          description:
            'The user ids of the nodes under which the pods of both namespaces run. No other tenant has one of them; an id from 1 to 65535 that a pod names is moved into them.',
        },
      ),
    ),
    runtimeClasses: runtimeClassesField,
    teamsCheckedAt: optional(timestamp('When GitHub was last asked whether the teams in `spec.roles` exist.')),
    observedWake: observedWakeField,
  },
  conditions: {
    Ready: 'Both namespaces exist, with their roles, quotas and network policies.',
    RolesResolved: 'Every team in `spec.roles` exists in the organization.',
    GitHubAccess: 'Every Installation of the namespace is ready, so that the account can be reached on GitHub.',
    NetworkPoliciesEnforced: 'The network plugin of the cluster enforces the network policies of the namespaces.',
    WallsHold:
      'The walls of the cluster and of the namespaces stand as this version ships them, and refuse (docs/reference/walls.md).',
  },
  reasons,
  columns: [
    { name: 'Account', type: 'string', jsonPath: '.spec.account.login' },
    { name: 'Namespace', type: 'string', jsonPath: '.spec.namespace' },
    ...readyColumns,
    { name: 'GitHub', type: 'string', jsonPath: '.status.conditions[?(@.type=="GitHubAccess")].reason' },
    { name: 'Walls', type: 'string', jsonPath: '.status.conditions[?(@.type=="WallsHold")].status', priority: 1 },
    ageColumn,
  ],
})

export type Tenant = ObjectOf<typeof tenant>

/** The conditions beside Ready. */
export const tenantConditions = {
  rolesResolved: 'RolesResolved',
  networkPoliciesEnforced: 'NetworkPoliciesEnforced',
  wallsHold: 'WallsHold',
  gitHubAccess: 'GitHubAccess',
} as const
