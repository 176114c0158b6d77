// RepositoryGrant: a request for tokens that reach named repositories with named permissions, for named subjects, for a stated
// reason. Immutable; the controller decides it. Without an approved grant no token is issued.
import { applicationAccountPrefix } from '../application-account.ts'
import { ageColumn, defineKind, type ObjectOf, readyColumns } from '../kind.ts'
import { isolatedServiceAccount } from '../names.ts'
import {
  dnsSubdomain,
  numericId,
  objectName,
  observedWakeField,
  permissionLevel,
  repositoryName,
  requestedByField,
  timestamp,
} from '../schema/fields.ts'
import { choice, choiceOfThisVersion, integer, list, map, object, optional, text } from '../schema/schema.ts'
import { deliveryFields, deliveryNameRule, deliverySpecRules } from './repository-grant/delivery.ts'
import { grantReasons } from './repository-grant/reasons.ts'
import {
  endedApprovalsField,
  grantAuditField,
  grantDecisions,
  grantSubjectKinds,
  tokenLifetimesField,
} from './repository-grant/status.ts'

export type { GrantDecisionName } from './repository-grant/status.ts'
export { grantDecisions, grantSubjectKinds } from './repository-grant/status.ts'

/** Reasons of the conditions. */
export const repositoryGrantReasons = grantReasons.names

export const repositoryGrant = defineKind({
  group: 'github',
  kind: 'RepositoryGrant',
  plural: 'repositorygrants',
  shortNames: ['grant', 'rgrant'],
  scope: 'Namespaced',
  adminAccess: 'delete',
  description:
    'Access to named repositories, with named permissions, for named subjects. Tokens are issued only under an approved grant.',
  writtenBy:
    'Developers and admins of the tenant create and delete grants; nobody changes them. A RemoteSync or an AppPipeline owns a grant that the platform creates for it.',
  immutableSpec: true,
  tenantAccess: 'create-delete',
  spec: object(
    {
      installation: objectName('The name of the Installation in this namespace that contains the repositories.'),
      repositories: list(
        text({ description: 'A repository as `owner/name`, such as `acme/shop`.', max: 140, pattern: repositoryName }),
        {
          description:
            'The repositories that a token reaches. The names are resolved to numeric ids once, when the grant is approved: a repository that gets one of these names later is not included.',
          min: 1,
          max: 50,
          unique: 'set',
          rules: [
            {
              rule: 'self.all(name, self.exists_one(other, other.lowerAscii() == name.lowerAscii()))',
              message: 'repositories must name each repository once: GitHub does not distinguish upper and lower case',
              reason: 'FieldValueInvalid',
            },
          ],
        },
      ),
      permissions: map(permissionLevel, {
        description:
          'What a token may do in these repositories: permissions of GitHub Apps and their levels, such as `contents: read`. At least one.',
        max: 30,
      }),
      subjects: list(
        object(
          {
            kind: choiceOfThisVersion(grantSubjectKinds, {
              description:
                'The kind of the subject: `Application` for the pods of an Application and no others, `ServiceAccount` for pods that run under it, `RemoteSync` for the builds of a RemoteSync, `AppPipeline` for the list of pull requests of an AppPipeline.',
            }),
            name: text({ description: 'The name of the subject in this namespace.', max: 253, pattern: dnsSubdomain }),
          },
          { description: 'One subject that may request tokens.' },
        ),
        {
          description:
            'Who may request tokens under this grant. Everybody who can run a pod under a ServiceAccount can use its grants: all developers of the namespace can. Under that of an Application only the platform runs pods: who may change the Application can use its grants.',
          min: 1,
          max: 20,
          unique: ['kind', 'name'],
          rules: [
            {
              rule: `self.all(s, s.kind != 'ServiceAccount' || s.name != '${isolatedServiceAccount}')`,
              message: `subjects must not name the ServiceAccount ${isolatedServiceAccount}: pods of isolated Applications run under it, whose code is not trusted`,
            },
            {
              rule: `self.all(s, s.kind != 'ServiceAccount' || !s.name.startsWith('${applicationAccountPrefix}'))`,
              message: `subjects must not name a ServiceAccount ${applicationAccountPrefix}…, which the platform makes: name the Application, with the kind Application`,
            },
          ],
        },
      ),
      ...deliveryFields,
      lifetimeSeconds: integer({
        description:
          'How long the grant is valid after its approval, in seconds. The default is 30 days. Tokens live for fifteen minutes, and for an hour at most (`tokenLifetimeSeconds` of policies).',
        min: 60,
        max: 31_536_000,
        default: 2_592_000,
      }),
      reason: text({ description: 'Why the access is needed, as text for people who read the audit log.', min: 3, max: 500 }),
      requestedBy: requestedByField,
    },
    {
      description: 'The access that is requested. It cannot change: delete the grant and create another one.',
      rules: [
        {
          rule: 'self.permissions.size() > 0',
          message: 'permissions must name at least one permission, such as contents: read',
          fieldPath: '.permissions',
        },
        ...deliverySpecRules,
      ],
    },
  ),
  rules: [deliveryNameRule],
  status: {
    decision: optional(choice(grantDecisions, { description: 'Whether the grant was approved; `Waiting`: people have to.' })),
    rule: optional(text({ description: 'The check or policy rule that decided.', max: 253 })),
    decidedAt: optional(timestamp('When it was decided.')),
    checkedAt: optional(
      timestamp('When GitHub was last asked whether the repositories exist and the requester has access to them.'),
    ),
    observedWake: observedWakeField,
    observedInputs: optional(
      text({
        description:
          'A digest of the Installation and the policy rules that the decision was made from. When they change, the grant is decided again.',
        max: 64,
      }),
    ),
    observedPolicies: optional(
      text({
        description:
          'A digest of the GrantPolicies of the namespace and the ClusterGrantPolicies that the decision was made from. Absent when there were none.',
        max: 64,
      }),
    ),
    observedAnswers: optional(
      text({
        description:
          'Who approved, and the GrantApproval that denies, in the decision. Absent when nobody answered, or no answer counted.',
        max: 1000,
      }),
    ),
    endedApprovals: endedApprovalsField,
    audit: grantAuditField,
    approvedUntil: optional(
      timestamp(
        'When the approval by break-glass of a platform admin ends, and with it every token. Absent for other approvals.',
      ),
    ),
    approvals: optional(
      object(
        {
          required: integer({ description: 'How many have to approve.', min: 1, max: 1000 }),
          given: integer({ description: 'How many have, whose answers count.', min: 0, max: 1000 }),
        },
        { description: 'While the grant waits: how many people who did not request it have to approve, and how many have.' },
      ),
    ),
    requestedRepositories: optional(
      list(
        object(
          {
            id: numericId('The numeric id of the repository.'),
            name: text({ description: 'The name of the repository as `owner/name` at that time.', max: 140 }),
          },
          { description: 'One repository that people are asked about.' },
        ),
        {
          description:
            'The repositories that the names in `spec.repositories` meant when the grant first waited for people: those are approved, and no others. Set once.',
          max: 50,
          unique: ['id'],
        },
      ),
    ),
    expiresAt: optional(timestamp('When the grant expires. Set at the first approval.')),
    applications: optional(
      list(
        object(
          {
            name: text({ description: 'The name of the Application.', max: 253 }),
            uid: text({ description: 'Its UID when the grant was approved.', max: 63 }),
          },
          { description: 'One Application that the grant is bound to.' },
        ),
        {
          description:
            'The Applications in `spec.subjects` that were there when the grant was approved. Another one that gets such a name later is not meant: it needs a new grant.',
          max: 20,
          unique: ['name'],
        },
      ),
    ),
    tokenLifetimes: tokenLifetimesField,
    requester: optional(
      object(
        { login: text({ description: 'The login of the person, for display only.', max: 100 }) },
        { description: 'The person in `spec.requestedBy`, as GitHub answered at the last check.' },
      ),
    ),
    repositories: optional(
      list(
        object(
          {
            id: numericId('The numeric id of the repository. Tokens are requested by these ids.'),
            name: text({ description: 'The name of the repository as `owner/name` at the last check.', max: 140 }),
          },
          { description: 'One repository of the grant.' },
        ),
        {
          description:
            'The repositories that the names in `spec.repositories` meant when the grant was approved, without those in `endedRepositories` since. A token reaches these while the grant is ready.',
          max: 50,
          unique: ['id'],
        },
      ),
    ),
    endedRepositories: optional(
      list(
        object(
          {
            id: numericId('The numeric id of the repository.'),
            name: text({ description: 'The name of the repository as `owner/name` when it was last reached.', max: 140 }),
            reason: text({ description: 'Why, as a reason of conditions, such as `RepositoryNotFound`.', max: 100 }),
            message: text({ description: 'Why, and what to do, as text for people.', max: 1000 }),
            since: timestamp('When this was found.'),
          },
          { description: 'One repository that the grant does not reach any more.' },
        ),
        {
          description:
            'The repositories for which the approved grant does not hold any more: deleted, transferred, archived, or made private. It goes on for the others, and for these again when the cause is gone.',
          max: 50,
          unique: ['id'],
        },
      ),
    ),
  },
  conditions: {
    Approved: 'The grant was approved.',
    Ready:
      'The grant is approved and valid now: it has not expired, its Installation is ready, and GitHub confirmed the access at most a day ago.',
    Delivered: 'The Secret of each subject holds a token. Only of grants with the delivery `Secret`.',
  },
  reasons: grantReasons,
  columns: [
    { name: 'Repositories', type: 'string', jsonPath: '.spec.repositories' },
    { name: 'Decision', type: 'string', jsonPath: '.status.decision' },
    { name: 'Subjects', type: 'string', jsonPath: '.spec.subjects', priority: 1 },
    { name: 'Delivery', type: 'string', jsonPath: '.spec.delivery', priority: 1 },
    { name: 'Requested by', type: 'string', jsonPath: '.spec.requestedBy', priority: 1 },
    ...readyColumns,
    { name: 'Expires', type: 'string', jsonPath: '.status.expiresAt', priority: 1 },
    ageColumn,
  ],
  selectableFields: ['.spec.requestedBy', '.spec.installation'],
})

export type RepositoryGrant = ObjectOf<typeof repositoryGrant>
