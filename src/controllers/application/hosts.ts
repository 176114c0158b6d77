// The host names of an Application: the platform's own name for it, or its domains, and who may have which. Pure.
// A name below the platform's domain belongs to the namespace it contains; any other name to the Application that had it first.
import type { Application } from '../../api/apps/application.ts'
import { type Claim, comesFirst } from '../precedence.ts'

/** Where people reach the ingress, such as http://localhost:8080: its host is the platform's domain. */
export type IngressAddress = { readonly publicUrl: URL; readonly className: string }

/** `<name>.<namespace>.<platform domain>`: dots between them, so that no two namespaces can make the same name. */
export function ownHost(application: Application, ingress: IngressAddress): string {
  const { name, namespace } = application.metadata
  return `${name}.${namespace}.${ingress.publicUrl.hostname}`
}

export function hostsOf(application: Application, ingress: IngressAddress): readonly string[] {
  const { domains } = application.spec
  return domains && domains.length > 0 ? domains : [ownHost(application, ingress)]
}

/** The URL of a host, with the port under which people reach the ingress. */
export function urlOf(host: string, ingress: IngressAddress): string {
  const url = new URL(ingress.publicUrl.href)
  url.hostname = host
  url.pathname = '/'
  return url.href.replace(/\/$/, '')
}

function claimOf({ metadata, status }: Application): Claim {
  return { metadata, holds: status?.appliedAt !== undefined }
}

/** Why a domain may not be used, for its owner to read; it never names an application of another namespace. */
export function domainProblem(
  application: Application,
  ingress: IngressAddress,
  usersOf: (domain: string) => readonly Application[],
): string | undefined {
  const platform = `.${ingress.publicUrl.hostname}`
  const own = `.${application.metadata.namespace}${platform}`
  const { domains } = application.spec
  for (const domain of hostsOf(application, ingress)) {
    if (domain === ingress.publicUrl.hostname) return `spec.domains: ${domain} is the platform's own name`
    if (domain.endsWith(platform) && !domain.endsWith(own))
      return `spec.domains: ${domain} belongs to another namespace; names here end in ${own}`
    const former = usersOf(domain).find(other => comesFirst(claimOf(other), claimOf(application), 'age'))
    if (!former) continue
    const holder =
      former.metadata.namespace === application.metadata.namespace ? `Application ${former.metadata.name}` : 'another application'
    return domains?.includes(domain)
      ? `spec.domains: ${domain} is used by ${holder}: remove it here or there`
      : `${domain} is used by ${holder}: set spec.domains here, or remove it there`
  }
  return undefined
}
