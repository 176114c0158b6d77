// The DNS record by which a tenant proves that a domain is theirs, and looking for it. The record names the GitHub account by
// number, so it is not a secret, cannot be used for another tenant, and stays valid when the Tenant is created again.
import { Resolver } from 'node:dns/promises'
import type { Tenant } from '../../../api/tenancy/tenant.ts'

/** A TXT record: its name and its value. */
export type Challenge = { readonly name: string; readonly value: string }

/** The record that proves `host` for the tenant. */
export function challengeOf(host: string, { spec: { account } }: Tenant): Challenge {
  return { name: `_sekisho-challenge.${host}`, value: `sekisho-tenant=${account.host}/${account.id}` }
}

/** The text of the record as people put it into a zone file. */
export function challengeText({ name, value }: Challenge): string {
  return `${name} TXT "${value}"`
}

/** Finds the values of TXT records; empty when the name has none or no server answers. */
export type LookUpTexts = (name: string) => Promise<readonly string[]>

/** At most two queries of two seconds each, at every server that is asked. */
const resolverOptions = { timeout: 2000, tries: 2 }

/**
 * Asks these servers (`address` or `address:port`), or those of the system when there are none. A record of several character
 * strings is their concatenation (RFC 7208 §3.3 has the same rule). Never rejects: a name without an answer is not proved.
 */
export function dnsLookUp(servers: readonly string[]): LookUpTexts {
  const resolver = new Resolver(resolverOptions)
  if (servers.length > 0) resolver.setServers(servers)
  return async name => {
    try {
      return (await resolver.resolveTxt(name)).map(strings => strings.join(''))
    } catch {
      return []
    }
  }
}
