// GrantPolicy and ClusterGrantPolicy: which RepositoryGrants may be approved. Admins of a tenant write the first for its
// namespace; platform admins write the second, which caps what tenants allow. What they mean: docs/guide/policy.md.
import { ageColumn, defineKind, type ObjectOf, readyColumns } from '../kind.ts'
import { defineReasons } from '../reasons/reason.ts'
import { dnsLabel, hostField, numericId, permissionLevel } from '../schema/fields.ts'
import { choice, choiceOfThisVersion, integer, list, map, object, optional, type Rule, text } from '../schema/schema.ts'
import { grantCountsField } from './grant-policy/counts.ts'
import { grantDeliveries } from './repository-grant/delivery.ts'
import { refPatternField } from './repository-grant/git.ts'
import { grantSubjectKinds } from './repository-grant.ts'

/** What a rule can say; `src/policy/grants` says which one wins. */
export const ruleEffects = ['Allow', 'RequireApproval', 'Deny'] as const

/** The roles of a tenant that a rule can name. */
export const requesterRoles = ['viewer', 'developer', 'admin'] as const
export type RequesterRole = (typeof requesterRoles)[number]

/**
 * `owner/name`, each part of the characters of GitHub and `*`. ASCII only, so that no letter of another alphabet looks like one
 * of these; there is no alternation, no class, no `?` and no escape.
 */
export const repositoryPattern = '^[A-Za-z0-9*][A-Za-z0-9_*-]{0,38}/[A-Za-z0-9._*-]{1,100}$'

/** The visibilities of GitHub. */
export const visibilities = ['public', 'private', 'internal'] as const
export type Visibility = (typeof visibilities)[number]

const reasons = defineReasons({
  ready: {
    Enforced: 'The rules decide about RepositoryGrants.',
    Audited: 'The rules decide nothing: the status of each RepositoryGrant says what they would change.',
  },
  failed: {
    NoTenant: 'The namespace is not the one in which a tenant works, so the rules decide about nothing.',
  },
})

/** Reasons of the condition Ready. */
export const grantPolicyReasons = reasons.names

const requester = object(
  {
    type: choice(['Person', 'Team', 'Role'], {
      description:
        'Who is meant: one person, the members of one team (also of its child teams) of the organization to which the repositories belong, or the people who have a role in the tenant.',
    }),
    id: optional(numericId('For `Person` and `Team`: the numeric id on GitHub.')),
    role: optional(
      choice(requesterRoles, {
        description:
          'For `Role`: the role by `spec.roles` of the Tenant, exactly this one. Who is only an admin is not meant by `developer`.',
      }),
    ),
    name: optional(
      text({
        description: 'The login of the person or the slug of the team, for display only.',
        max: 100,
        pattern: '^[A-Za-z0-9._-]+$',
      }),
    ),
  },
  {
    description: 'One group of requesters.',
    rules: [
      {
        rule: "has(self.id) == (self.type != 'Role') && has(self.role) == (self.type == 'Role')",
        message: 'a requester of type Person or Team must have id, one of type Role must have role',
        reason: 'FieldValueInvalid',
      },
    ],
  },
)

const subject = object(
  {
    kind: choice(grantSubjectKinds, { description: 'The kind of the subject.' }),
    name: optional(text({ description: 'The name of the subject. Each of the kind when omitted.', max: 253 })),
  },
  { description: 'One subject of a grant.' },
)

const ruleFields = {
  name: text({ description: 'The name of the rule, which decisions name.', max: 63, pattern: dnsLabel }),
  effect: choiceOfThisVersion(ruleEffects, {
    description:
      'What the rule says about what it matches. `Deny` wins over `RequireApproval`, which wins over `Allow`. What no rule allows, with or without approval, is denied.',
  }),
  approvals: optional(
    integer({
      description:
        'For `RequireApproval`: how many admins of the tenant have to approve, the requester not among them. One when omitted.',
      min: 1,
      max: 5,
    }),
  ),
  host: optional(hostField),
  requesters: optional(
    list(requester, {
      description: 'By whom the grant is requested. Everybody when omitted.',
      min: 1,
      max: 20,
    }),
  ),
  repositories: optional(
    list(
      text({
        description:
          'Repositories as `owner/name`. `*` stands for any number of characters within the owner or within the name, never for the slash. Upper and lower case are the same, as on GitHub.',
        max: 140,
        pattern: repositoryPattern,
        rules: [
          {
            rule: "!self.contains('**')",
            message: 'a pattern of repositories must not contain **: one * stands for any number of characters between slashes',
            reason: 'FieldValueInvalid',
          },
        ],
      }),
      {
        description: 'The repositories by their present names. All when this and `repositoryIds` are omitted.',
        min: 1,
        max: 20,
      },
    ),
  ),
  repositoryIds: optional(
    list(numericId('The numeric id of a repository.'), {
      description: 'The repositories by their ids, which stay the same when a repository is renamed.',
      min: 1,
      max: 50,
    }),
  ),
  visibility: optional(
    list(choice(visibilities, { description: 'Who can see a repository.' }), {
      description: 'The rule matches only repositories with one of these visibilities. All when omitted.',
      min: 1,
      max: 3,
      unique: 'set',
    }),
  ),
  permissions: map(permissionLevel, {
    description:
      'Permissions of GitHub Apps and their levels, such as `contents: read`; `*` stands for every permission. `Allow` is up to this level, `Deny` from this level on. `RequireApproval` allows this level, with approval, and requires approval from this level on. At least one.',
    max: 40,
  }),
  tokenLifetimeSeconds: optional(
    integer({
      description:
        'How long tokens live under the grants that the rule matches, in seconds: then the platform revokes them at GitHub. The shortest time of all rules that match counts, also between a GrantPolicy and a ClusterGrantPolicy. Without any, tokens of workloads live for 900 seconds, those that the platform uses for a RemoteSync or an AppPipeline for an hour.',
      min: 60,
      max: 3600,
    }),
  ),
  subjects: optional(list(subject, { description: 'For which subjects of grants. All when omitted.', min: 1, max: 20 })),
  deliveries: optional(
    list(choice(grantDeliveries, { description: 'A delivery of grants.' }), {
      description:
        'For which deliveries of grants. All when omitted, with one exception: what a ClusterGrantPolicy allows, with or without approval, it allows for the delivery `Secret` only in a rule that names it here.',
      min: 1,
      max: 3,
      unique: 'set',
    }),
  ),
  refs: optional(
    list(refPatternField, {
      description:
        'For rules about pushing, whose only permission is `contents`: the refs that a grant asks to push to. `Allow` matches what these patterns contain, `Deny` and `RequireApproval` each ref that they and the grant have in common. A grant of the delivery `GitProxy` asks for `spec.git.refs`, without them for every branch and tag; one that gives tokens asks for every ref, because a token pushes anywhere. All when omitted.',
      min: 1,
      max: 20,
      unique: 'set',
    }),
  ),
}

const policyRule = (rules: readonly Rule[]) =>
  object(ruleFields, {
    description: 'One rule. It matches what all of its fields match.',
    rules: [
      {
        rule: "self.permissions.size() > 0 && self.permissions.all(name, name == '*' || name.matches('^[a-z][a-z_]{0,63}$'))",
        message: 'permissions must name at least one permission, such as contents: read, or *',
        reason: 'FieldValueInvalid',
        fieldPath: '.permissions',
      },
      {
        rule: "!has(self.approvals) || self.effect == 'RequireApproval'",
        message: 'approvals belongs to rules with the effect RequireApproval',
        reason: 'FieldValueInvalid',
        fieldPath: '.approvals',
      },
      {
        rule: "!has(self.tokenLifetimeSeconds) || self.effect != 'Deny'",
        message: 'tokenLifetimeSeconds belongs to rules that allow: under what is denied there are no tokens',
        reason: 'FieldValueInvalid',
        fieldPath: '.tokenLifetimeSeconds',
      },
      {
        rule: "!has(self.refs) || (self.permissions.size() == 1 && 'contents' in self.permissions)",
        message: 'refs belongs to rules whose only permission is contents: nothing else pushes',
        reason: 'FieldValueInvalid',
        fieldPath: '.refs',
      },
      ...rules,
    ],
  })

const spec = (whose: string, ruleRules: readonly Rule[]) =>
  object(
    {
      mode: choice(['Enforce', 'Audit'], {
        description:
          '`Enforce`: the rules decide. `Audit`: they decide nothing, and `status.audit` of each RepositoryGrant says what they would change.',
        default: 'Enforce',
      }),
      builtInRules: choice(['Keep', 'Replace'], {
        description: `What ${whose} allow beside their own rules. \`Keep\`: also what the platform allows without any policy, such as reading contents. \`Replace\`: only what their rules allow; one policy that replaces is enough. What the platform always denies stays denied.`,
        default: 'Keep',
      }),
      rules: list(policyRule(ruleRules), {
        description: 'The rules. Their order does not matter.',
        min: 1,
        max: 100,
        unique: ['name'],
      }),
    },
    { description: 'The rules, and whether they decide.' },
  )

const nameRule: Rule = {
  rule: 'self.metadata.name.size() <= 63',
  message: 'metadata.name must have at most 63 characters: decisions name the policy and its rule',
}

const columns = [
  { name: 'Mode', type: 'string', jsonPath: '.spec.mode' },
  { name: 'Approved', type: 'integer', jsonPath: '.status.grants.approved' },
  { name: 'Waiting', type: 'integer', jsonPath: '.status.grants.waiting' },
  { name: 'Denied', type: 'integer', jsonPath: '.status.grants.denied' },
  { name: 'Built-in rules', type: 'string', jsonPath: '.spec.builtInRules', priority: 1 },
  ...readyColumns,
  ageColumn,
] as const

export const grantPolicy = defineKind({
  group: 'github',
  kind: 'GrantPolicy',
  plural: 'grantpolicies',
  shortNames: ['gpol'],
  scope: 'Namespaced',
  tenantAccess: 'write-by-admin',
  description:
    'Rules about which RepositoryGrants of the namespace may be approved. They allow nothing beyond what the platform allows: see ClusterGrantPolicy.',
  writtenBy: 'Admins of the tenant.',
  spec: spec('the GrantPolicies of the namespace', []),
  status: { grants: grantCountsField },
  conditions: { Ready: 'The rules are in effect, as `spec.mode` says.' },
  reasons,
  rules: [nameRule],
  columns,
})

export const clusterGrantPolicy = defineKind({
  group: 'github',
  kind: 'ClusterGrantPolicy',
  plural: 'clustergrantpolicies',
  shortNames: ['cgpol'],
  scope: 'Cluster',
  adminAccess: 'write',
  description:
    'Rules about what the GrantPolicies of tenants can allow at most. What they allow is approved only where a tenant allows it, too; what they deny, no tenant can allow.',
  writtenBy: 'Platform admins.',
  spec: spec('the ClusterGrantPolicies', [
    {
      rule: "has(self.host) || (!has(self.repositoryIds) && (!has(self.requesters) || self.requesters.all(one, one.type == 'Role')))",
      message: 'a rule of a ClusterGrantPolicy with ids must have host: ids are unique per host only',
      reason: 'FieldValueInvalid',
      fieldPath: '.host',
    },
  ]),
  status: { grants: grantCountsField },
  conditions: { Ready: 'The rules are in effect, as `spec.mode` says.' },
  reasons,
  rules: [nameRule],
  columns,
})

export type GrantPolicy = ObjectOf<typeof grantPolicy>
export type ClusterGrantPolicy = ObjectOf<typeof clusterGrantPolicy>
