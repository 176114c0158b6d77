// One sentence for a package registry that refuses, is away or is slow, from what pip, uv and Poetry print. Pure.

const refused =
  /(?:HTTP error (40[13]) while getting|\b(40[13]) (?:Client )?Error|\((40[13]) (?:Unauthorized|Forbidden)\)|Missing credentials for|Authorization error accessing|Credentials not correct for|Unauthorized for url)/i
const untrusted =
  /CERTIFICATE_VERIFY_FAILED|certificate verify failed|invalid peer certificate|UnknownIssuer|self[- ]signed certificate|unable to get local issuer certificate/i
const slow =
  /ReadTimeoutError|Read timed out|ConnectTimeoutError|ConnectionTimeout|operation timed out|due to network timeout|NetworkTimeout|ReadTimeout\b/i
const away =
  /NewConnectionError|NameResolutionError|Name or service not known|Temporary failure in name resolution|Connection refused|No route to host|Network is unreachable|error sending request for url|failed to lookup address|dns error|All attempts to connect to|Max retries exceeded/i
const down =
  /too many (50[0234]) error responses|(?:HTTP error|status server error|\b)\s*\(?(50[0234])\b[^\n]{0,40}(?:while getting|for url|Server Error|Bad Gateway|Service Unavailable|Gateway Time-?out)/i

/** Undefined when `output` says nothing of the kind. */
export function registryFailure(output: string): string | undefined {
  const registry = `the package registry${hostIn(output)}`
  const status = refused.exec(output)
  if (status !== null)
    return `${registry} refuses the credentials (${status.slice(1).find(Boolean) ?? '401'}): give them to the build as a secret (spec.build.secrets), such as PIP_INDEX_URL with user and password`
  if (untrusted.test(output))
    return `${registry} has a certificate of an authority that this build does not trust: ask a platform admin, or name another registry (PIP_INDEX_URL in spec.build.env)`
  if (slow.test(output))
    return `${registry} answers too slowly: try again later, or name a nearer one (PIP_INDEX_URL in spec.build.env)`
  const failing = down.exec(output)?.slice(1).find(Boolean)
  if (failing !== undefined) return `${registry} fails with status ${failing}: try again later`
  if (away.test(output))
    return `${registry} cannot be reached: try again later, or correct its address (PIP_INDEX_URL in spec.build.env)`
  return undefined
}

/** Never more than the host: addresses of registries contain passwords. */
function hostIn(output: string): string {
  const host =
    /host='([\w.-]+)'/.exec(output)?.[1] ??
    /(?:fetch URL |index URL \(|while getting |for url \(|for |accessing |from |connect to )(?:https?:\/\/(?:[^\s/@]*@)?)?([\w-]+(?:\.[\w-]+)+)/i.exec(
      output,
    )?.[1]
  return host === undefined ? '' : ` ${host}`
}
