// ClusterGitHubApp: a GitHub App as which the platform acts. Its private keys stay in Secrets of the platform namespace; only the
// controllers read them.
import { ageColumn, defineKind, type ObjectOf, readyColumns } from '../kind.ts'
import { defineReasons } from '../reasons/reason.ts'
import { hostField, numericId, objectName, reportedPermissions } from '../schema/fields.ts'
import { exactlyOneOf, flag, list, object, optional, text } from '../schema/schema.ts'

const baseUrl = (description: string) => text({ description, max: 512, pattern: '^https?://[^ ]+$' })

const pathSegments = '^[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*$'

const signer = object(
  {
    transit: object(
      {
        address: text({
          description: 'The address of the key server, as `https://<host>[:port]`.',
          max: 300,
          pattern: '^https://[A-Za-z0-9.:\\[\\]-]+$',
        }),
        mount: text({ description: 'Where the engine is mounted.', max: 200, pattern: pathSegments, default: 'transit' }),
        key: text({ description: 'The name of the key in the engine: an RSA key.', max: 200, pattern: '^[A-Za-z0-9_-]+$' }),
        token: object(
          {
            secretName: objectName('The name of a Secret in the namespace `sekisho-system`.'),
            key: text({ description: 'The key in the Secret whose value is the token.', max: 253, default: 'token' }),
          },
          {
            description:
              'With what the platform authenticates at the key server: a token that may `update` `<mount>/sign/<key>/sha2-256` and nothing else.',
          },
        ),
        certificateAuthority: optional(
          text({
            description: 'The authority of the certificate of the key server, as PEM. Those of the system when omitted.',
            max: 32_768,
            pattern: '^-----BEGIN CERTIFICATE-----',
          }),
        ),
      },
      { description: 'The transit engine of HashiCorp Vault or OpenBao, or a server with its API.' },
    ),
  },
  {
    description:
      'A server that holds the private key of the App and signs with it, in place of `privateKeys`: the platform never has the key.',
  },
)

const reasons = defineReasons(
  {
    ready: {
      Verified: 'GitHub accepts the private key.',
      JsonDeliveries: 'GitHub sends the deliveries of the App as JSON.',
    },
    machine: {
      GitHubUnreachable: 'GitHub does not answer, or limits the rate of requests. The platform tries again.',
    },
    person: {
      FormDeliveries:
        'GitHub sends the deliveries of the App form-encoded, and the platform reads JSON only: nothing wakes it, so that pushes are found by its slower look-ups. Set “Content type: application/json” in the settings of the webhook of the App.',
      PrivateKeyMissing:
        'A Secret in `spec.privateKeys` or `spec.signer`, or its key, does not exist. Create it in the platform namespace.',
      SignerRefused:
        'The key server in `spec.signer` refuses to sign. The message has its status and the cure: its token, the name of its key, or the type of that.',
      PrivateKeyRefused:
        'GitHub does not accept the private key. Check `spec.clientId`, and that the key belongs to the App and was not deleted on GitHub.',
    },
    failed: {
      HostConflict:
        'An older ClusterGitHubApp says that `spec.host` is at other addresses. A host is one server: nothing is asked as this App. Create it again with the same `spec.endpoints`, or with another `spec.host`.',
      AppMismatch:
        'The key and the client ID belong to another App than `spec.appId`. Correct the object, or create another ClusterGitHubApp.',
    },
  },
  {
    keyMissing: 'PrivateKeyMissing',
    keyRefused: 'PrivateKeyRefused',
    signerRefused: 'SignerRefused',
    mismatch: 'AppMismatch',
    hostConflict: 'HostConflict',
    unreachable: 'GitHubUnreachable',
  },
)

/** Reasons of the condition Ready. */
export const clusterGitHubAppReasons = reasons.names

/** The condition about the webhook of the App. */
export const webhookReadable = 'WebhookReadable'

export const clusterGitHubApp = defineKind({
  group: 'github',
  kind: 'ClusterGitHubApp',
  plural: 'clustergithubapps',
  shortNames: ['cgha'],
  scope: 'Cluster',
  adminAccess: 'write',
  description: 'A GitHub App on github.com or on a GitHub Enterprise Server, as which the platform acts.',
  writtenBy: 'Platform admins.',
  spec: object(
    {
      host: hostField,
      endpoints: optional(
        object(
          {
            web: baseUrl('The base URL of the web pages, where people sign in, such as `https://github.com`.'),
            api: baseUrl(
              'The base URL of the REST API, such as `https://api.github.com` or `https://github.example.com/api/v3`.',
            ),
            insecure: optional(
              flag({
                description:
                  'Set to `true` to allow `http` URLs: whoever is between the platform and the server then reads the credentials and tokens. For tests only.',
              }),
            ),
          },
          {
            description:
              'Where GitHub is reached, if it is not at the usual addresses for `host`: `https://<host>` and `https://<host>/api/v3` for a GitHub Enterprise Server. It cannot change: the credentials of the App are sent there.',
            rules: [
              {
                rule: "(has(self.insecure) && self.insecure) || (self.web.startsWith('https://') && self.api.startsWith('https://'))",
                message: 'endpoints must be https URLs; for tests without TLS set endpoints.insecure: true',
                reason: 'FieldValueInvalid',
              },
            ],
          },
        ),
      ),
      appId: numericId('The App ID, as the settings page of the App on GitHub shows it.'),
      clientId: text({
        description:
          'The client ID, as the settings page of the App on GitHub shows it. People sign in with it, and the platform signs its App JWTs as this issuer.',
        max: 100,
      }),
      privateKeys: optional(
        list(
          object(
            {
              secretName: objectName('The name of a Secret in the namespace `sekisho-system`.'),
              key: text({
                description: 'The key in the Secret whose value is the private key in PEM format.',
                max: 253,
                default: 'private-key.pem',
              }),
            },
            { description: 'Where one private key of the App is stored.' },
          ),
          {
            description: 'The private keys of the App: one, or two during a rotation. They are tried in this order.',
            min: 1,
            max: 2,
          },
        ),
      ),
      signer: optional(signer),
      pool: optional(
        objectName(
          'The name of a pool. Where several Apps of one host and one pool are installed on an account, and owners bound each, tokens of workloads are made by the one whose rate limit has the most left.',
        ),
      ),
    },
    {
      description: 'Which App it is, and how the platform authenticates as it.',
      rules: [
        exactlyOneOf(['privateKeys', 'signer'], 'set exactly one of privateKeys and signer'),
        {
          rule: 'self.host == oldSelf.host && self.appId == oldSelf.appId',
          message: 'host and appId cannot change: create another ClusterGitHubApp',
          reason: 'FieldValueForbidden',
        },
        {
          rule: 'has(self.endpoints) == has(oldSelf.endpoints) && (!has(self.endpoints) || self.endpoints == oldSelf.endpoints)',
          message: 'endpoints cannot change: create another ClusterGitHubApp',
          fieldPath: '.endpoints',
          reason: 'FieldValueForbidden',
        },
      ],
    },
  ),
  status: {
    slug: optional(text({ description: 'The slug of the App on GitHub, which is part of its URL.', max: 100 })),
    permissions: optional(
      reportedPermissions('The permissions that the App requests, as GitHub reports them. No token can have more.'),
    ),
  },
  conditions: {
    Ready: 'GitHub accepts the private key of the App.',
    [webhookReadable]: 'GitHub sends the deliveries of the App in the encoding that the platform reads.',
  },
  reasons,
  columns: [
    { name: 'Host', type: 'string', jsonPath: '.spec.host' },
    { name: 'App', type: 'integer', jsonPath: '.spec.appId' },
    { name: 'Pool', type: 'string', jsonPath: '.spec.pool', priority: 1 },
    ...readyColumns,
    ageColumn,
  ],
})

export type ClusterGitHubApp = ObjectOf<typeof clusterGitHubApp>
