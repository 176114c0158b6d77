// The members of `spec.provider` of a ServiceClass: where the services of a class are made. Data only.
import { dnsSubdomain } from '../schema/fields.ts'
import { choice, integer, object, optional, text } from '../schema/schema.ts'

/** No user, path, query or fragment. */
const storeUrl = '^https?://([A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?|\\[[0-9A-Fa-f:.]+\\])(:[0-9]{1,5})?/?$'

const secretName = (description: string) => text({ description, max: 253, pattern: dnsSubdomain })

const tlsField = object(
  {
    mode: choice(['VerifyFull', 'Disable'], {
      description:
        '`VerifyFull`: connections are encrypted, and the certificate of the server must be for `host`. `Disable`: they are not encrypted; for servers that only a trusted network reaches.',
      default: 'VerifyFull',
    }),
    caSecret: optional(
      object(
        { name: secretName('The name of the Secret in the namespace `sekisho-data`.') },
        {
          description:
            'The Secret whose key `ca.crt` has the certificates that sign the one of the server. When omitted: those that the operating system trusts. Applications get them with each credential.',
        },
      ),
    ),
  },
  {
    description: 'How connections are protected.',
    default: {},
    rules: [
      {
        rule: "!has(self.caSecret) || self.mode == 'VerifyFull'",
        message: 'caSecret belongs to mode VerifyFull',
        reason: 'FieldValueInvalid',
        fieldPath: '.caSecret',
      },
    ],
  },
)

export const postgresqlField = object(
  {
    host: text({
      description: 'The host name or IP address of the server, by which the platform and the pods of tenants reach it.',
      max: 253,
      pattern: '^[A-Za-z0-9]([-A-Za-z0-9.:]*[A-Za-z0-9])?$',
    }),
    port: integer({ description: 'The TCP port of the server.', min: 1, max: 65_535, default: 5432 }),
    adminSecret: object(
      { name: secretName('The name of the Secret in the namespace `sekisho-data`.') },
      {
        description: 'The Secret whose keys `username` and `password` are an account of the server that is a superuser.',
      },
    ),
    tls: tlsField,
  },
  { description: 'A PostgreSQL server that all instances of the class share: each is a database of its own on it.' },
)

export const s3Field = object(
  {
    endpoint: text({
      description:
        'The URL of the store, by which the platform and the pods of tenants reach it, such as `https://s3.example.com`.',
      max: 512,
      pattern: storeUrl,
    }),
    iamEndpoint: text({
      description: 'The URL at which the store answers the Query API of IAM. Only the platform reaches it.',
      max: 512,
      pattern: storeUrl,
    }),
    region: text({
      description: 'The region that requests are signed for.',
      max: 63,
      pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
      default: 'us-east-1',
    }),
    adminSecret: object(
      { name: secretName('The name of the Secret in the namespace `sekisho-data`.') },
      {
        description:
          'The Secret whose keys `accessKeyId` and `secretAccessKey` are an account of the store that may make buckets, users, policies and keys.',
      },
    ),
    caSecret: optional(
      object(
        { name: secretName('The name of the Secret in the namespace `sekisho-data`.') },
        {
          description:
            'The Secret whose key `ca.crt` has the certificates that sign the one of the store. When omitted: those that the operating system trusts. Applications get them with each credential.',
        },
      ),
    ),
  },
  {
    description:
      'An object store that speaks S3 and the Query API of IAM, which all Buckets of the class share. With `http://` nothing is encrypted: for stores that only a trusted network reaches.',
    rules: [
      {
        rule: "!has(self.caSecret) || self.endpoint.startsWith('https://') || self.iamEndpoint.startsWith('https://')",
        message: 'caSecret belongs to an endpoint of https',
        reason: 'FieldValueInvalid',
        fieldPath: '.caSecret',
      },
    ],
  },
)
