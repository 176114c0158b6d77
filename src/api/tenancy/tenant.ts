// Tenant: a GitHub account that has a place on the platform. Written by the broker (onboarding) or a platform admin, never by a tenant.

import { defineKind, type ObjectOf } from '../kind.ts'
import { accountField, dnsLabel, numericId } from '../schema/fields.ts'
import { choice, integer, list, object, optional, text } from '../schema/schema.ts'

const namespaceName = (description: string) => text({ description, max: 57, pattern: dnsLabel })

export const tenant = defineKind({
  group: 'tenancy',
  kind: 'Tenant',
  plural: 'tenants',
  shortNames: ['tn'],
  scope: 'Cluster',
  description: 'A GitHub account with a namespace, roles from its teams, and limits.',
  spec: object(
    {
      account: accountField,
      namespace: namespaceName(
        'The namespace in which the tenant works. Builds run in <namespace>-build, where it has no rights.',
      ),
      roles: list(
        object(
          {
            role: choice(['viewer', 'developer', 'admin'], { description: 'The closed tenant role to bind.' }),
            subject: object(
              {
                type: choice(['Team', 'Owners', 'Members', 'User'], {
                  description: 'Who gets it: a team, all owners, all members, one person.',
                }),
                id: optional(numericId('The numeric id of the team or user; not set for Owners and Members.')),
                name: optional(text({ description: 'The slug or login, for display only.', max: 100 })),
              },
              {
                description: 'Who on GitHub.',
                rules: [
                  {
                    rule: "has(self.id) == (self.type in ['Team', 'User'])",
                    message: 'subject.id must be set for Team and User, and only for them',
                  },
                ],
              },
            ),
          },
          { description: 'One role for one set of people.' },
        ),
        { description: 'Which people have which role in the namespace.', max: 100 },
      ),
      limits: optional(
        object(
          {
            concurrentBuilds: integer({ description: 'Builds that may run at once.', min: 1, max: 50, default: 2 }),
            tokensPerHour: integer({ description: 'Tokens that may be minted in an hour.', min: 1, max: 5000, default: 600 }),
            applications: integer({ description: 'Applications in the namespace.', min: 1, max: 1000, default: 50 }),
          },
          { description: 'What the tenant may use of what all share.' },
        ),
      ),
    },
    {
      description: 'What the tenant is.',
      rules: [
        {
          rule: 'self.account.id == oldSelf.account.id && self.account.host == oldSelf.account.host',
          message: 'account.id and account.host cannot change: make another Tenant',
          fieldPath: '.account',
          reason: 'FieldValueForbidden',
        },
        {
          rule: 'self.__namespace__ == oldSelf.__namespace__',
          message: 'namespace cannot change: make another Tenant',
          fieldPath: '.namespace',
          reason: 'FieldValueForbidden',
        },
      ],
    },
  ),
  status: {
    namespace: optional(text({ description: 'The namespace that was made.', max: 63 })),
    buildNamespace: optional(text({ description: 'The namespace in which builds run.', max: 63 })),
    teamsCheckedAt: optional(
      text({ description: 'When GitHub was last asked for the teams in spec.roles.', max: 64, format: 'date-time' }),
    ),
    observedWake: optional(text({ description: 'The wake annotation that the last check of the teams had seen.', max: 512 })),
  },
  columns: [
    { name: 'Account', type: 'string', jsonPath: '.spec.account.login' },
    { name: 'Namespace', type: 'string', jsonPath: '.spec.namespace' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Reason', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].reason' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
})

export type Tenant = ObjectOf<typeof tenant>

/** Beside Ready. */
export const tenantConditions = { rolesResolved: 'RolesResolved' } as const

export const tenantReasons = {
  ready: 'NamespacesReady',
  namespaceTaken: 'NamespaceTaken',
  terminating: 'NamespaceTerminating',
  quotaNotCounted: 'QuotaNotCounted',
  rolesResolved: 'TeamsFound',
  unknownTeam: 'UnknownTeam',
  teamsNotChecked: 'TeamsNotChecked',
} as const
