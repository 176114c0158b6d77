// Halt: ends access and keeps it ended until somebody lifts it. In the namespace of the platform it holds for everybody, in the
// namespace of a tenant for what is of that tenant. It says what is halted by numbers and names that do not pass to another
// thing; the token desk, the controllers and the broker ask `src/policy/halt.ts` whether one stands in the way.
import { ageColumn, defineKind, type ObjectOf, readyColumns } from '../kind.ts'
import { defineReasons, rightMissing } from '../reasons/reason.ts'
import { hostField, numericId, objectName, requestedByField, timestamp } from '../schema/fields.ts'
import { choice, exactlyOneOf, flag, integer, list, object, optional, text } from '../schema/schema.ts'

/** What a Halt can end, each with the member of `spec.target` that says which one; `Everything` needs none. */
export const haltTargets = {
  Token: 'token',
  Grant: 'grant',
  Repository: 'repository',
  Person: 'person',
  Tenant: 'tenant',
  Installation: 'installation',
  Everything: undefined,
} as const
export type HaltTarget = keyof typeof haltTargets
const targetTypes = Object.keys(haltTargets) as [HaltTarget, ...HaltTarget[]]
const members = Object.values(haltTargets).filter(member => member !== undefined)

/** Text on one line, without characters that move a cursor, colour a terminal or turn the direction of what follows. */
export const printableLine = '^[^\\p{C}\\p{Zl}\\p{Zp}]*$'

/** SHA-256 in base64, as `hashed_token` in the audit log of GitHub. */
export const tokenHashPattern = '^[A-Za-z0-9+/]{43}=$'

/** Of the status: the first names of what is halted. */
export const maxHaltedNames = 20

const reasons = defineReasons(
  {
    ready: {
      Enforced: 'Everything that was live is revoked, and nothing new is issued until the Halt is lifted.',
      DryRun: 'The status says what would end. Nothing was ended, and the platform deletes the object after ten minutes.',
      Lifted: 'The Halt holds no longer. The platform records it and deletes the object.',
    },
    progress: {
      Revoking:
        'Nothing new is issued. GitHub is being asked to revoke what is live; `status.tokens.left` says how much is left.',
    },
    machine: {
      GitHubUnreachable:
        'Nothing new is issued. GitHub did not revoke everything yet; the platform asks again until each token is revoked or expires, within the hour.',
    },
  },
  {},
  rightMissing,
)

/** Reasons of the condition Ready. */
export const haltReasons = reasons.names

const reasonField = (description: string) => text({ description, min: 3, max: 500, pattern: printableLine })
const display = (description: string, max: number) => optional(text({ description, max, pattern: printableLine }))

const count = (description: string) => integer({ description, min: 0, max: Number.MAX_SAFE_INTEGER })

export const halt = defineKind({
  group: 'github',
  kind: 'Halt',
  plural: 'halts',
  shortNames: ['hlt'],
  scope: 'Namespaced',
  tenantAccess: 'create-change-by-admin',
  adminAccess: 'create-change',
  description:
    'Ends access and keeps it ended until it is lifted: live tokens are revoked, and new ones are refused. In the namespace of a tenant it holds for what is of that tenant, in `sekisho-system` for all tenants.',
  writtenBy:
    'Admins of the tenant in its namespace, platform admins in `sekisho-system`: by `sekisho halt` and `sekisho resume`. Nobody changes it but to lift it (`spec.lifted`); then the platform records who did, and deletes it.',
  immutableSpec: { setOnce: 'lifted' },
  spec: object(
    {
      target: object(
        {
          type: choice(targetTypes, {
            description:
              'What is halted. `Token`: one token, and its subject under the same grant; `Grant`: a RepositoryGrant, also one that is made again with its name; `Repository`: every token that reaches it; `Person`: what was requested in that name and, in `sekisho-system`, everything the person does with the platform; `Tenant`: every token of the tenant, and onboarding it; `Installation`: every token of the installation on GitHub, with `account` also of each later one of that account; `Everything`: every token of all tenants, or of the tenant in whose namespace the Halt is.',
          }),
          token: optional(
            object(
              {
                id: optional(
                  text({
                    description: 'The id of the token in the audit log (`details.token`).',
                    max: 36,
                    pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
                  }),
                ),
                hash: optional(
                  text({
                    description:
                      'SHA-256 of the token in base64, as `hashed_token` in the audit log of GitHub: `printf %s "$TOKEN" | openssl dgst -sha256 -binary | base64`. Never the token itself.',
                    max: 44,
                    pattern: tokenHashPattern,
                  }),
                ),
              },
              {
                description: 'For `Token`: which one.',
                rules: [exactlyOneOf(['id', 'hash'], 'token must have either id or hash')],
              },
            ),
          ),
          grant: optional(
            object(
              {
                namespace: objectName('The namespace of the RepositoryGrant.'),
                name: text({ description: 'The name of the RepositoryGrant.', max: 253 }),
              },
              { description: 'For `Grant`: which one. It need not exist.' },
            ),
          ),
          repository: optional(
            object(
              {
                host: hostField,
                id: numericId('The numeric id of the repository on GitHub.'),
                name: display('The name at that time as `owner/name`, for display only.', 140),
              },
              { description: 'For `Repository`: which one.' },
            ),
          ),
          person: optional(
            object(
              {
                host: hostField,
                id: numericId('The numeric id of the person on GitHub.'),
                login: display('The login at that time, for display only.', 100),
              },
              { description: 'For `Person`: who.' },
            ),
          ),
          tenant: optional(
            object(
              { name: text({ description: 'The name of the Tenant. A later one of this name is halted, too.', max: 253 }) },
              { description: 'For `Tenant`: which one.' },
            ),
          ),
          installation: optional(
            object(
              {
                host: hostField,
                id: numericId('The numeric id of the installation on GitHub.'),
                account: optional(
                  numericId(
                    'The numeric id of the account that it is on. With it, installations that the account makes later are halted, too.',
                  ),
                ),
              },
              { description: 'For `Installation`: which one.' },
            ),
          ),
        },
        {
          description: 'What is halted.',
          rules: [
            {
              rule: `${members.map(member => `has(self.${member}) == (self.type == '${targetTypes.find(type => haltTargets[type] === member)}')`).join(' && ')}`,
              message:
                'target must have exactly the member that belongs to its type, such as person for Person; Everything has none',
              reason: 'FieldValueInvalid',
            },
          ],
        },
      ),
      reason: reasonField('Why, as text for people who read the audit log. One line without control characters.'),
      workloads: choice(['Keep', 'ScaleToZero'], {
        description:
          'What becomes of the pods of Applications of a halted tenant: `Keep`, they run on without new tokens, or `ScaleToZero`. Only for `Tenant` and `Everything`. What people run beside Applications stays.',
        default: 'Keep',
      }),
      dryRun: optional(flag({ description: 'Whether only the status shall say what would end.' })),
      requestedBy: requestedByField,
      lifted: optional(
        object(
          {
            by: text({ description: 'The user who lifts it; admission refuses any other name.', max: 512 }),
            reason: reasonField('Why it is lifted.'),
          },
          { description: 'Set once, by whoever lifts the Halt. The platform then records it and deletes the object.' },
        ),
      ),
    },
    {
      description: 'What is halted, and why. Only `lifted` can be added.',
      rules: [
        {
          rule: "self.workloads == 'Keep' || self.target.type in ['Tenant', 'Everything']",
          message: 'workloads can be ScaleToZero only for the targets Tenant and Everything',
          reason: 'FieldValueInvalid',
          fieldPath: '.workloads',
        },
      ],
    },
  ),
  status: {
    tokens: optional(
      object(
        {
          revoked: count('How many tokens GitHub revoked because of this Halt.'),
          expired: count('How many expired before GitHub answered.'),
          left: count('How many GitHub may still accept; for a dry run, how many would be revoked.'),
        },
        { description: 'The tokens that were live.' },
      ),
    ),
    answeredAt: optional(timestamp('When GitHub last answered that it had revoked a token.')),
    grants: optional(
      object(
        {
          count: count('How many there are.'),
          names: list(text({ description: 'A grant as `namespace/name`.', max: 320 }), {
            description: 'The first of them.',
            max: maxHaltedNames,
          }),
        },
        { description: 'The RepositoryGrants that give no token while the Halt stands.' },
      ),
    ),
    subject: optional(
      object(
        {
          namespace: text({ description: 'The namespace of the grant.', max: 63 }),
          grant: text({ description: 'The name of the grant.', max: 253 }),
          kind: text({ description: 'The kind of the subject.', max: 63 }),
          name: text({ description: 'The name of the subject.', max: 253 }),
        },
        { description: 'For `Token`: who had it, and gets no other one under that grant.' },
      ),
    ),
  },
  conditions: {
    Ready: 'What is halted has no live token, and gets none.',
  },
  reasons,
  columns: [
    { name: 'Target', type: 'string', jsonPath: '.spec.target.type' },
    { name: 'Left', type: 'integer', jsonPath: '.status.tokens.left' },
    { name: 'Revoked', type: 'integer', jsonPath: '.status.tokens.revoked' },
    ...readyColumns,
    { name: 'By', type: 'string', jsonPath: '.spec.requestedBy', priority: 1 },
    { name: 'Why', type: 'string', jsonPath: '.spec.reason', priority: 1 },
    ageColumn,
  ],
})

export type Halt = ObjectOf<typeof halt>
