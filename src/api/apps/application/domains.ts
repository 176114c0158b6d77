// The host names of an Application: those under which it answers, those that lead people on to one of these, and their
// certificate.
import { defineReasons } from '../../reasons/reason.ts'
import { reservedSecretPrefixes } from '../../reserved-secrets.ts'
import { hostName, objectName } from '../../schema/fields.ts'
import { choice, exactlyOneOf, list, object, optional, type Rule, text } from '../../schema/schema.ts'

const host = (description: string) => text({ description, max: 253, pattern: hostName })

/** `spec.domains`. */
export const domainsField = list(host('A host name in lower case, such as `shop.example.com`, without `*`.'), {
  description:
    'The host names under which the process `web` answers. When omitted: `<name>.<namespace>.<application domain of the platform>`. Any other name must be proved by a DNS record, which the condition Ready names, and then belongs to the tenant as a DomainClaim; in a tenant one Application has it at a time.',
  max: 20,
  unique: 'set',
})

/** `spec.redirects`. */
export const redirectsField = list(
  object(
    {
      from: host(
        'The host name that is redirected, such as `www.shop.example.com`. It is proved and claimed like those of `domains`.',
      ),
      to: host('One of `domains`.'),
    },
    { description: 'One host name that leads people on to another one.' },
  ),
  {
    description:
      'Host names that answer with a permanent redirect to one of `domains`, with the same path and query. They are redirected by the ingress, without a request to the Application, where a platform admin has configured that (`SEKISHO_REDIRECT_ANNOTATIONS`); the condition Redirecting says whether they are.',
    max: 20,
    unique: ['from'],
  },
)

/** On the spec. No chain and no loop: what is redirected answers nowhere, and where it leads answers. */
export const redirectRules: readonly Rule[] = [
  {
    rule: '!has(self.redirects) || (has(self.domains) && self.redirects.all(r, r.to in self.domains))',
    message: 'redirects[].to must be one of spec.domains: list it there, or correct the name',
    fieldPath: '.redirects',
  },
  {
    rule: '!has(self.redirects) || !has(self.domains) || !self.redirects.exists(r, r.from in self.domains)',
    message:
      'redirects[].from must not be one of spec.domains, under which the Application answers itself: remove it here or there',
    fieldPath: '.redirects',
  },
]

type DomainSpec = { readonly domains?: readonly string[]; readonly redirects?: readonly { readonly from: string }[] }

/** Every host name that the spec itself names: those under which the Application answers, and those that are redirected. */
export function namedDomains({ domains = [], redirects = [] }: DomainSpec): readonly string[] {
  return [...domains, ...redirects.map(({ from }) => from)]
}

/** Of the condition Redirecting. */
export const redirectReasons = defineReasons({
  ready: {
    Redirecting: 'The ingress has every redirect.',
  },
  progress: {
    RedirectPending: 'The Ingress of a redirect has not been made yet. The condition Ready says what it waits for.',
  },
  person: {
    RedirectNotSupported:
      'The platform is not configured for one of the redirects. Everything else of the Application runs. The message says what a platform admin can set.',
  },
  failed: {
    RedirectWithoutTarget:
      'No Ingress leads to the host that people are to be led to, because the Application has no process `web`.',
  },
})

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
            rule: reservedSecretPrefixes.map(prefix => `!self.startsWith('${prefix}')`).join(' && '),
            message: `names that begin with ${reservedSecretPrefixes.join(' or ')} belong to the platform: choose another name`,
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
