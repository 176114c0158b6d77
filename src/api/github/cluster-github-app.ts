// ClusterGitHubApp: a GitHub App the platform acts as. Its private keys stay in Secrets of the platform namespace; only controllers read them.

import { defineKind, type ObjectOf } from '../kind.ts'
import { hostField, numericId, objectName } from '../schema/fields.ts'
import { list, map, object, optional, text } from '../schema/schema.ts'

export const clusterGitHubApp = defineKind({
  group: 'github',
  kind: 'ClusterGitHubApp',
  plural: 'clustergithubapps',
  shortNames: ['cgha'],
  scope: 'Cluster',
  description: 'A GitHub App of the platform on github.com or a GitHub Enterprise Server.',
  spec: object(
    {
      host: hostField,
      endpoints: optional(
        object(
          {
            web: text({
              description: 'Where people sign in, such as https://github.com.',
              max: 512,
              pattern: '^https?://[^ ]+$',
            }),
            api: text({
              description: 'The REST API, such as https://api.github.com or https://HOST/api/v3.',
              max: 512,
              pattern: '^https?://[^ ]+$',
            }),
          },
          { description: 'Only where they do not follow from the host.' },
        ),
      ),
      appId: numericId('The App id.'),
      clientId: text({ description: 'The client id; the issuer of the App JWT.', max: 100 }),
      privateKeys: list(
        object(
          {
            secretName: objectName('A Secret in the platform namespace.'),
            key: text({ description: 'The key in it that holds the PEM.', max: 253, default: 'private-key.pem' }),
          },
          { description: 'Where one private key is.' },
        ),
        { description: 'One key, or two during a rotation; tried in order.', min: 1, max: 2 },
      ),
    },
    {
      description: 'Which App.',
      rules: [
        {
          rule: 'self.host == oldSelf.host && self.appId == oldSelf.appId',
          message: 'host and appId cannot change: make another ClusterGitHubApp',
          reason: 'FieldValueForbidden',
        },
      ],
    },
  ),
  status: {
    slug: optional(text({ description: 'The App’s slug on GitHub.', max: 100 })),
    permissions: optional(
      map(text({ description: 'Level.', max: 16 }), { description: 'What the App may ask for at most.', max: 100 }),
    ),
  },
  columns: [
    { name: 'Host', type: 'string', jsonPath: '.spec.host' },
    { name: 'App', type: 'integer', jsonPath: '.spec.appId' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Reason', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].reason' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
})

export type ClusterGitHubApp = ObjectOf<typeof clusterGitHubApp>

export const clusterGitHubAppReasons = {
  verified: 'Verified',
  keyMissing: 'PrivateKeyMissing',
  keyRefused: 'PrivateKeyRefused',
  mismatch: 'AppMismatch',
  unreachable: 'GitHubUnreachable',
} as const
