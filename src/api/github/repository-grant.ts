// RepositoryGrant: a tenant's wish for tokens that reach named repositories with named permissions, for named subjects, for a reason.
// Immutable; decided by the controller. There is no token without one.

import { defineKind, type ObjectOf } from '../kind.ts'
import { numericId, objectName, permissionLevel, repositoryName, requestedByField } from '../schema/fields.ts'
import { choice, integer, list, map, object, optional, text } from '../schema/schema.ts'

export const repositoryGrant = defineKind({
  group: 'github',
  kind: 'RepositoryGrant',
  plural: 'repositorygrants',
  shortNames: ['grant', 'rgrant'],
  scope: 'Namespaced',
  description: 'Access to named repositories, with named permissions, for named subjects.',
  immutableSpec: true,
  spec: object(
    {
      installation: objectName('The Installation in this namespace.'),
      repositories: list(text({ description: 'owner/name', max: 140, pattern: repositoryName }), {
        description: 'The repositories, by name; resolved to ids once, when the grant is decided.',
        min: 1,
        max: 50,
        unique: 'set',
      }),
      permissions: map(permissionLevel, { description: 'What the token may do, such as contents: read. Never empty.', max: 30 }),
      subjects: list(
        object(
          {
            kind: choice(['ServiceAccount', 'RemoteSync', 'AppPipeline'], { description: 'What may ask for the token.' }),
            name: text({ description: 'Its name in this namespace.', max: 253 }),
          },
          { description: 'Who may ask.' },
        ),
        { description: 'Who may ask for the token.', min: 1, max: 20, unique: ['kind', 'name'] },
      ),
      delivery: choice(['TokenEndpoint', 'GitProxy', 'Secret'], {
        description: 'How the token reaches its subject.',
        default: 'TokenEndpoint',
      }),
      lifetimeSeconds: integer({ description: 'How long the grant lives.', min: 60, max: 31_536_000, default: 2_592_000 }),
      reason: text({ description: 'Why, for the person who reads the audit log.', min: 3, max: 500 }),
      requestedBy: requestedByField,
    },
    {
      description: 'What is asked for.',
      rules: [
        {
          rule: 'self.permissions.size() > 0',
          message: 'permissions must name at least one permission, such as contents: read',
          fieldPath: '.permissions',
        },
      ],
    },
  ),
  status: {
    decision: optional(choice(['Approved', 'Denied', 'WaitingForApproval'], { description: 'What was decided.' })),
    rule: optional(text({ description: 'The policy rule that decided.', max: 253 })),
    decidedAt: optional(text({ description: 'When.', max: 64, format: 'date-time' })),
    checkedAt: optional(
      text({ description: 'When GitHub was last asked about repositories and requester.', max: 64, format: 'date-time' }),
    ),
    observedWake: optional(text({ description: 'The wake annotation that the last check had seen.', max: 512 })),
    expiresAt: optional(text({ description: 'When the grant ends.', max: 64, format: 'date-time' })),
    repositories: optional(
      list(
        object(
          { id: numericId('The repository id.'), name: text({ description: 'owner/name when it was resolved.', max: 140 }) },
          { description: 'A resolved repository.' },
        ),
        {
          description: 'What the names meant when the grant was decided; tokens are minted by these ids.',
          max: 50,
          unique: ['id'],
        },
      ),
    ),
  },
  columns: [
    { name: 'Decision', type: 'string', jsonPath: '.status.decision' },
    { name: 'Delivery', type: 'string', jsonPath: '.spec.delivery' },
    { name: 'Requested by', type: 'string', jsonPath: '.spec.requestedBy' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Reason', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].reason' },
    { name: 'Expires', type: 'string', jsonPath: '.status.expiresAt', priority: 1 },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  selectableFields: ['.spec.requestedBy', '.spec.installation'],
})

export type RepositoryGrant = ObjectOf<typeof repositoryGrant>

export const repositoryGrantReasons = {
  approved: 'Approved',
  deniedByPolicy: 'DeniedByPolicy',
  waitingForApproval: 'WaitingForApproval',
  installationNotReady: 'InstallationNotReady',
  repositoryNotFound: 'RepositoryNotFound',
  unknownPermissionLevel: 'UnknownPermissionLevel',
  aboveCeiling: 'AboveCeiling',
  requesterLacksAccess: 'RequesterLacksAccess',
  requesterUnknown: 'RequesterUnknown',
  expired: 'Expired',
  unreachable: 'GitHubUnreachable',
} as const
