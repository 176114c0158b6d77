// The certificate of an Application's host names: one of the tenant's own, or one that cert-manager issues.
import { objectName } from '../../schema/fields.ts'
import { choice, exactlyOneOf, object, optional, text } from '../../schema/schema.ts'

/** `spec.tls`. */
export const tlsField = object(
  {
    secretName: optional(
      text({
        description:
          'The name of a Secret of type `kubernetes.io/tls` in the same namespace, whose certificate covers all host names (`kubectl create secret tls`). The platform cannot read it: the ingress uses its default certificate while the Secret does not exist or does not fit.',
        max: 253,
        pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$',
        rules: [
          {
            rule: "!self.startsWith('ghtok-') && !self.startsWith('sekisho-registry-') && !self.startsWith('appsecret-')",
            message: 'names that begin with ghtok-, sekisho-registry- or appsecret- belong to the platform: choose another name',
          },
        ],
      }),
    ),
    certManager: optional(
      object(
        {
          issuer: objectName('The name of the issuer.'),
          kind: choice(['Issuer', 'ClusterIssuer'], {
            description:
              'Whether the issuer is in the same namespace (`Issuer`) or belongs to the cluster (`ClusterIssuer`, of which the platform admin allows some).',
            default: 'ClusterIssuer',
          }),
        },
        { description: 'A certificate that cert-manager issues and renews.' },
      ),
    ),
  },
  {
    description:
      'The certificate for the host names. When omitted, the ingress uses the certificate of the platform, if it has one.',
    rules: [exactlyOneOf(['secretName', 'certManager'], 'set exactly one of secretName and certManager')],
  },
)
