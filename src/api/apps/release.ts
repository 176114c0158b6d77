// Release: the record of what an Application ran, or was to run, from one change on. Written by the controllers only, and never
// changed: its number means the same for ever. The name of the object contains the number, so the API server itself decides
// that no number is used twice.
import { ageColumn, defineKind, type ObjectOf, readyColumns } from '../kind.ts'
import { defineReasons } from '../reasons/reason.ts'
import { commitId, dnsLabel, timestamp } from '../schema/fields.ts'
import { choice, integer, map, object, optional, text, withoutProperties } from '../schema/schema.ts'
import { maxUserName } from './application/changed-by.ts'
import { type Application, application } from './application.ts'

/**
 * What of an Application's spec is not part of a release: whether its tag is followed (a release has the digest), where it is
 * reached, how many pods it has, its data, and what is about releases themselves. A release that runs again runs with the
 * present values of these. Every other field is part of it.
 */
export const notInRelease = [
  'followTag',
  'domains',
  'redirects',
  'tls',
  'suspend',
  'volumes',
  'replicas',
  'rollout',
  'pinnedRelease',
  'releasesKept',
  'restartedAt',
  'isolated',
] as const

/** The part of an Application's spec that a release records. */
export type ReleaseSnapshot = Omit<Application['spec'], (typeof notInRelease)[number]>

const reasons = defineReasons({
  ready: {
    RolledOut: 'The release was rolled out. It can run again: set `spec.pinnedRelease` of the Application to its number.',
  },
  failed: {
    ReleaseJobFailed: 'The release job failed, so the release was not rolled out.',
    ReleaseJobTimedOut: 'The release job did not end in time, so the release was not rolled out.',
    Unhealthy: 'The processes of the release were not ready in time, or crashed, so the release before it runs again.',
  },
  intended: {
    Superseded: 'A newer release was made before this one was rolled out.',
  },
})

/** What became of a release: reasons of its condition Ready. */
export const releaseOutcomes = reasons.names

export const release = defineKind({
  group: 'apps',
  kind: 'Release',
  plural: 'releases',
  shortNames: ['rel'],
  scope: 'Namespaced',
  tenantAccess: 'read',
  description:
    'What an Application ran from one change of its image, its spec or its secrets on. Set `spec.pinnedRelease` of the Application to its number to run it again.',
  writtenBy:
    'The platform, when what an Application runs changes. `spec.releasesKept` of the Application says how many are kept.',
  immutableSpec: true,
  spec: object(
    {
      application: object(
        {
          name: text({ description: 'The name of the Application.', max: 63, pattern: dnsLabel }),
          uid: text({ description: 'The `metadata.uid` of the Application.', max: 64 }),
          generation: optional(
            integer({
              description: 'The `metadata.generation` of the Application whose spec was released.',
              min: 1,
              max: Number.MAX_SAFE_INTEGER,
            }),
          ),
        },
        { description: 'The Application in the same namespace.' },
      ),
      number: integer({
        description: 'The number of the release: 1 is the first one of the Application. No number is used twice.',
        min: 1,
        max: 2_147_483_647,
      }),
      image: text({ description: 'The image that runs.', max: 512 }),
      tag: optional(text({ description: 'The tag that meant this image, when the Application followed it.', max: 512 })),
      commit: optional(commitId('The commit from which the image was built, when the platform built it.')),
      hash: text({
        description: 'A hash of everything that is part of the release: two releases with the same hash run the same.',
        max: 64,
        pattern: '^[0-9a-f]{32}$',
      }),
      snapshot: withoutProperties<ReleaseSnapshot>(application.specSchema, notInRelease, {
        description: 'The spec of the Application as it was released, without what is not part of a release.',
      }),
      secretVersions: optional(
        map(text({ description: 'The value of `status.version`.', max: 128 }), {
          description:
            'The AppSecrets that it used, and the ServiceBindings as `service:<name of the entry>`, with their versions then. It never has a value of a secret.',
          max: 300,
        }),
      ),
      restartedAt: optional(timestamp('The value of `spec.restartedAt` of the Application when the release was made.')),
      by: object(
        {
          kind: choice(['RemoteSync', 'User', 'FieldManager', 'Tag'], {
            description:
              'What `name` is: the RemoteSync that set the image; the tag that came to mean another image; the user who alone changed the spec since the release before; or, when that is not known, the field manager of the last change.',
          }),
          name: text({
            description:
              'The name of the RemoteSync; or the tag; or the user name, as `kubectl auth whoami` shows it; or `unknown (kubectl-edit)`: nobody is named, and in brackets is the name that the program which sent the last change gave itself.',
            max: maxUserName,
          }),
          requestedBy: optional(text({ description: 'The person in whose name the RemoteSync acts.', max: 512 })),
          login: optional(
            text({
              description:
                'The login on GitHub of the person in `name`, `requestedBy` or `alsoChangedBy` when the release was made, as GitHub last answered about a RepositoryGrant of that person in the namespace, else as the API server knew it at the change. For display only.',
              max: 100,
            }),
          ),
          alsoChangedBy: optional(
            text({
              description:
                'A user who changed the spec since the release before, when others did too, or may have: then `name` names nobody.',
              max: maxUserName,
            }),
          ),
        },
        { description: 'Where the change came from, as far as it is known for certain.' },
      ),
      reason: choice(
        [
          'First',
          'NewCommit',
          'NewImage',
          'Promoted',
          'Rebased',
          'TagMoved',
          'SpecChanged',
          'SecretChanged',
          'CredentialReplaced',
          'Retried',
        ],
        {
          description:
            'What changed. `Promoted`: the image of a preview of the same files was taken without a build. `Rebased`: the image is the one before on a newer run image of its builder; its commit is the same. `TagMoved`: the tag that `spec.followTag` follows means another image, and nothing else changed. `CredentialReplaced`: the credential of a service was replaced by another one, and nothing else changed. `Retried`: nothing, but the release before had failed and `spec.restartedAt` of the Application was changed.',
        },
      ),
    },
    { description: 'What was released, and why.' },
  ),
  status: {},
  conditions: { Ready: 'The release was rolled out: all its processes were ready at the same time.' },
  reasons,
  columns: [
    { name: 'Application', type: 'string', jsonPath: '.spec.application.name', priority: 1 },
    { name: 'Number', type: 'integer', jsonPath: '.spec.number' },
    { name: 'Commit', type: 'string', jsonPath: '.spec.commit', priority: 1 },
    { name: 'Image', type: 'string', jsonPath: '.spec.image', priority: 1 },
    { name: 'Change', type: 'string', jsonPath: '.spec.reason' },
    { name: 'By', type: 'string', jsonPath: '.spec.by.name', priority: 1 },
    { name: 'Login', type: 'string', jsonPath: '.spec.by.login' },
    ...readyColumns,
    ageColumn,
  ],
  selectableFields: ['.spec.application.name'],
})

export type Release = ObjectOf<typeof release>

/** A Release as the caches hold it: without its snapshot (`kept-object.ts`). */
export type ReleaseHeader = Omit<Release, 'spec'> & { readonly spec: Omit<Release['spec'], 'snapshot'> }
