// The host names of an Application (the platform's name for it, or its domains), and which Application may use which. Pure. A
// name below the platform's domain belongs to the namespace that it contains. Any other name belongs to the tenant that has the
// DomainClaim on it; what the platform and other Ingresses of the cluster use belongs to no tenant. Inside a tenant the older
// Application has it.
import { namedDomains } from '../../../api/apps/application/domains.ts'
import { type IngressAddress, platformHost } from '../../../api/apps/application/url.ts'
import { type Application, applicationReasons as reasons } from '../../../api/apps/application.ts'
import type { DomainClaim } from '../../../api/tenancy/domain-claim.ts'
import type { Tenant } from '../../../api/tenancy/tenant.ts'
import { type Check, firstRefusal, type Refusal } from '../../../policy/check.ts'
import { type Claim, comesFirst } from '../../kit/precedence.ts'
import { challengeOf, challengeText } from './dns-challenge.ts'
import { type RedirectAnnotations, redirectedHosts } from './redirects.ts'

export { type IngressAddress, urlOf } from '../../../api/apps/application/url.ts'

/** The Applications that want a host, by host. */
export type UsersOfHost = ReadonlyMap<string, readonly Application[]>

/** What decides about the hosts of an Application. */
export type HostFacts = {
  readonly application: Application
  readonly ingress: IngressAddress
  /** The Tenant whose namespace it is in; undefined when that is not ready. */
  readonly tenant: Tenant | undefined
  readonly usersOfHost: UsersOfHost
  /** The DomainClaims on its hosts, by host. */
  readonly claims: ReadonlyMap<string, DomainClaim>
  /** Hosts of the platform itself, with all names above and below them. */
  readonly reservedHosts: readonly string[]
  /** Those of its hosts that an Ingress serves which no Application made. */
  readonly foreignHosts: ReadonlySet<string>
  readonly redirectAnnotations: RedirectAnnotations
}

/** The hosts under which an Application wants to be served: `spec.domains`, or the platform's name for it. */
export function hostsOf(application: Application, ingress: IngressAddress): readonly string[] {
  const { domains } = application.spec
  const { name, namespace = '' } = application.metadata
  return domains && domains.length > 0 ? domains : [platformHost(name, namespace, ingress)]
}

/** Every host that an Application wants: those under which it answers, and those that it redirects. */
export function wantedHosts(application: Application, ingress: IngressAddress): readonly string[] {
  return [...hostsOf(application, ingress), ...(application.spec.redirects ?? []).map(({ from }) => from)]
}

/**
 * The hosts that have to be its own before it is rendered: all that it wants, but those that the platform cannot redirect
 * anyway.
 */
function neededHosts({ application, ingress, redirectAnnotations }: HostFacts): readonly string[] {
  return [...hostsOf(application, ingress), ...redirectedHosts(application, redirectAnnotations)]
}

function isBelow(host: string, domain: string): boolean {
  return host.endsWith(`.${domain}`)
}

/**
 * True for equal names and for a name above or below the other: between these, cookies can be shared or replaced (RFC 6265
 * §5.1.3).
 */
export function sharesCookies(host: string, other: string): boolean {
  return host === other || isBelow(host, other) || isBelow(other, host)
}

function claimOf({ metadata, status }: Application): Claim {
  return { metadata, holds: status?.appliedAt !== undefined }
}

type OneHost = HostFacts & { readonly host: string }

/** Where the Application names the host. */
function fieldOf({ application, host }: Pick<OneHost, 'application' | 'host'>): string {
  return application.spec.redirects?.some(({ from }) => from === host) === true ? 'spec.redirects' : 'spec.domains'
}

function isBelowPlatform({ host, ingress }: OneHost): boolean {
  return isBelow(host, ingress.publicUrl.hostname)
}

/** Stops the platform's own names, and names above or below the address of the platform, whose cookies they could read or set. */
const isNotReserved: Check<OneHost> = facts => {
  const { host, ingress, reservedHosts } = facts
  if (isBelowPlatform(facts) && !reservedHosts.includes(host)) return undefined
  if (![ingress.publicUrl.hostname, ...reservedHosts].some(reserved => sharesCookies(host, reserved))) return undefined
  return {
    reason: reasons.domainReserved,
    message: `${fieldOf(facts)}: ${host} is reserved for the platform: choose another host name`,
  }
}

/** Stops names that contain another namespace. */
const isOfThisNamespace: Check<OneHost> = facts => {
  const own = `.${facts.application.metadata.namespace}.${facts.ingress.publicUrl.hostname}`
  if (!isBelowPlatform(facts) || facts.host.endsWith(own)) return undefined
  const message = `${fieldOf(facts)}: ${facts.host} belongs to another namespace; names in this namespace end in ${own}`
  return { reason: reasons.domainTaken, message }
}

/** Stops names that an Ingress of others serves. */
const isNotServedElsewhere: Check<OneHost> = facts =>
  facts.foreignHosts.has(facts.host)
    ? {
        reason: reasons.domainReserved,
        message: `${fieldOf(facts)}: an Ingress of the cluster that no Application made serves ${facts.host}: choose another host name, or ask a platform admin`,
      }
    : undefined

function isOfAnotherTenant({ host, claims, tenant }: Pick<OneHost, 'host' | 'claims' | 'tenant'>): boolean {
  const claim = claims.get(host)
  return claim !== undefined && claim.spec.tenant.uid !== tenant?.metadata.uid
}

/** Stops names that another tenant has claimed. The text never names the other one. */
const isOfThisTenant: Check<OneHost> = facts =>
  isOfAnotherTenant(facts)
    ? {
        reason: reasons.domainTaken,
        message: `${fieldOf(facts)}: ${facts.host} belongs to another tenant: choose another host name, or ask a platform admin`,
      }
    : undefined

/** Stops what an older Application of the same tenant uses. */
const isFirstInTenant: Check<OneHost> = facts => {
  const { host, application, usersOfHost } = facts
  const { namespace } = application.metadata
  const former = usersOfHost
    .get(host)
    ?.find(other => other.metadata.namespace === namespace && comesFirst(claimOf(other), claimOf(application), 'age'))
  if (!former) return undefined
  const message = namedDomains(application.spec).includes(host)
    ? `${fieldOf(facts)}: ${host} is used by Application ${former.metadata.name}: remove it here or there`
    : `${host} is used by Application ${former.metadata.name}: set spec.domains here, or remove it there`
  return { reason: reasons.domainTaken, message }
}

const checks: readonly Check<OneHost>[] = [
  isNotReserved,
  isOfThisNamespace,
  isNotServedElsewhere,
  isOfThisTenant,
  isFirstInTenant,
]

/** Why one of the Application's hosts may not be used, with the cure, for its owner; undefined when all may. */
export function domainProblem(facts: HostFacts): Refusal | undefined {
  for (const host of neededHosts(facts)) {
    const refusal = firstRefusal(checks, { ...facts, host })
    if (refusal) return refusal
  }
  return undefined
}

/** The hosts that are not claimed and have to be: those that are not below the platform's domain. */
export function unclaimedHosts(facts: HostFacts): readonly string[] {
  return neededHosts(facts).filter(host => !isBelowPlatform({ ...facts, host }) && !facts.claims.has(host))
}

/** What is missing before the Application may use its hosts; undefined when nothing is. */
export function missingProof(facts: HostFacts): Refusal | undefined {
  const hosts = unclaimedHosts(facts)
  if (hosts.length === 0) return undefined
  const reason = reasons.domainNotProven
  const { tenant } = facts
  const fields = [...new Set(hosts.map(host => fieldOf({ ...facts, host })))].join(' and ')
  if (tenant === undefined)
    return { reason, message: `${fields}: ${hosts[0]} can be used when the Tenant of this namespace is Ready` }
  const records = hosts.map(host => challengeText(challengeOf(host, tenant)))
  return {
    reason,
    message: `${fields}: prove that ${hosts.join(', ')} belongs to you by the DNS record ${records.join(' and ')} (it is looked up again within 5 minutes), or ask a platform admin for a DomainClaim`,
  }
}

/** In this order: a host that belongs to another tenant is refused before a proof for another one is requested. */
export const hostChecks: readonly Check<HostFacts>[] = [domainProblem, missingProof]

/** True when the host must not be served for this Application any more, whatever runs: another tenant has it, or the platform. */
export function isLost(facts: HostFacts, host: string): boolean {
  return isNotReserved({ ...facts, host }) !== undefined || isOfAnotherTenant({ ...facts, host })
}
