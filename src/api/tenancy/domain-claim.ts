// DomainClaim: the host name that belongs to a tenant. The name of the object is the host, so the API server itself decides
// which of two tenants is first: a second object of that name cannot exist. Controllers write it after a proof, platform admins
// by approval.
import { ageColumn, defineKind, type ObjectOf, readyColumns } from '../kind.ts'
import { defineReasons } from '../reasons/reason.ts'
import { hostName } from '../schema/fields.ts'
import { choice, object, text } from '../schema/schema.ts'

const reasons = defineReasons({
  ready: {
    Held: 'The host belongs to the tenant.',
  },
  failed: {
    TenantNotFound:
      'There is no Tenant with this name and uid, so no tenant can use the host. Delete the claim, and create it again with `metadata.uid` of the Tenant.',
  },
})

/** Reasons of the condition Ready. */
export const domainClaimReasons = reasons.names

export const domainClaim = defineKind({
  group: 'tenancy',
  kind: 'DomainClaim',
  plural: 'domainclaims',
  shortNames: ['dclaim'],
  scope: 'Cluster',
  adminAccess: 'write',
  description:
    'A host name outside the domain of the platform, and the tenant to whom it belongs. The name of the object is the host name.',
  writtenBy:
    'The platform, when a tenant has proved by a DNS record that the domain is theirs, and platform admins, who approve it without a record.',
  immutableSpec: true,
  spec: object(
    {
      host: text({
        description:
          'The host name, such as `shop.example.com`: in lower case, international names in their ASCII form (`xn--…`).',
        max: 253,
        pattern: hostName,
      }),
      tenant: object(
        {
          name: text({ description: 'The name of the Tenant.', max: 253 }),
          uid: text({
            description: 'The `metadata.uid` of the Tenant: a later Tenant of the same name does not inherit the host.',
            max: 64,
          }),
        },
        { description: 'The Tenant whose Applications may use the host.' },
      ),
      proof: choice(['DNS', 'Approval'], {
        description:
          'Why the host belongs to the tenant: `DNS`, a TXT record that names the account, or `Approval`, a platform admin. The platform deletes a claim with the proof `DNS` when no Application of the tenant names the host any more.',
      }),
    },
    { description: 'Which host belongs to whom.' },
  ),
  status: {},
  conditions: { Ready: 'The host belongs to the tenant: its Applications may use it, and those of others may not.' },
  reasons,
  rules: [
    {
      rule: 'self.metadata.name == self.spec.host',
      message: 'metadata.name must be spec.host: by its name a host can be claimed only once',
    },
  ],
  columns: [
    { name: 'Tenant', type: 'string', jsonPath: '.spec.tenant.name' },
    { name: 'Proof', type: 'string', jsonPath: '.spec.proof' },
    ...readyColumns,
    ageColumn,
  ],
})

export type DomainClaim = ObjectOf<typeof domainClaim>
