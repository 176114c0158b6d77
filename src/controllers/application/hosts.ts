// The host names of an Application (the platform's name for it, or its domains), and which Application may use which. Pure.
// A name below the platform's domain belongs to the namespace that it contains; any other name to the Application that had it first.
import type { Application } from '../../api/apps/application.ts'
import { type Claim, comesFirst } from '../precedence.ts'

/** Where people reach the ingress, such as http://localhost:8080: its host is the platform's domain. */
export type IngressAddress = { readonly publicUrl: URL; readonly className: string }

/** The Applications that want a host, by host. */
export type UsersOfHost = ReadonlyMap<string, readonly Application[]>

/** `<name>.<namespace>.<platform domain>`: separated by dots, so that no two namespaces can form the same name. */
function ownHost(application: Application, ingress: IngressAddress): string {
  const { name, namespace } = application.metadata
  return `${name}.${namespace}.${ingress.publicUrl.hostname}`
}

/** The hosts under which an Application wants to be served: `spec.domains`, or the platform's name for it. */
export function hostsOf(application: Application, ingress: IngressAddress): readonly string[] {
  const { domains } = application.spec
  return domains && domains.length > 0 ? domains : [ownHost(application, ingress)]
}

/** The URL of a host, with the port under which people reach the ingress; without a trailing slash. */
export function urlOf(host: string, ingress: IngressAddress): string {
  const url = new URL(ingress.publicUrl.href)
  url.hostname = host
  url.pathname = '/'
  return url.href.replace(/\/$/, '')
}

function claimOf({ metadata, status }: Application): Claim {
  return { metadata, holds: status?.appliedAt !== undefined }
}

/**
 * Why one of the Application's hosts may not be used, with the cure, for its owner; undefined when all may. The text never names an
 * Application of another namespace.
 */
export function domainProblem(application: Application, ingress: IngressAddress, usersOfHost: UsersOfHost): string | undefined {
  const platform = `.${ingress.publicUrl.hostname}`
  const own = `.${application.metadata.namespace}${platform}`
  const { domains } = application.spec
  for (const host of hostsOf(application, ingress)) {
    if (host === ingress.publicUrl.hostname) return `spec.domains: ${host} is the platform's own name`
    if (host.endsWith(platform) && !host.endsWith(own))
      return `spec.domains: ${host} belongs to another namespace; names in this namespace end in ${own}`
    const former = usersOfHost.get(host)?.find(other => comesFirst(claimOf(other), claimOf(application), 'age'))
    if (!former) continue
    const holder =
      former.metadata.namespace === application.metadata.namespace ? `Application ${former.metadata.name}` : 'another application'
    return domains?.includes(host)
      ? `spec.domains: ${host} is used by ${holder}: remove it here or there`
      : `${host} is used by ${holder}: set spec.domains here, or remove it there`
  }
  return undefined
}
