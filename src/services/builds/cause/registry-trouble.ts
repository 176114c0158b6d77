// Whether the registry refused a step, or did not answer it, by the text of a Go program: the lifecycle's, and kpack's. Pure.
// Only for steps that run no code of the tenant: that could print the same.

/** As the registry's clients print a refusal (go-containerregistry, containerd, kpack). */
const refusal =
  /\b(UNAUTHORIZED|DENIED)\b|\b(401 Unauthorized|403 Forbidden)\b|status code:? 40[13]\b|(validating registry|Error verifying) (read|write) access/

/** As Go's network code says that there was no answer. */
const noAnswer =
  /\b(connection refused|connection reset by peer|i\/o timeout|no route to host|network is unreachable|TLS handshake timeout)\b|\b50[234] (Bad Gateway|Service Unavailable|Gateway Timeout)\b/

export type RegistryTrouble = { readonly registryRefused: boolean; readonly registryUnreachable: boolean }

export function registryTrouble(text: string): RegistryTrouble {
  const registryUnreachable = noAnswer.test(text)
  return { registryRefused: !registryUnreachable && refusal.test(text), registryUnreachable }
}
