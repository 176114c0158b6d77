// Why a TLS connection was not made, as far as a person can do something about it. Pure.

/** Codes of OpenSSL and Node: https://nodejs.org/api/tls.html#x509-certificate-error-codes */
const unknownAuthority: ReadonlySet<string> = new Set([
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'CERT_SIGNATURE_FAILURE',
])

/** The code of the error or of the causes below it. */
export function causeCode(error: unknown): string | undefined {
  for (let current = error, depth = 0; current instanceof Error && depth < 6; current = current.cause, depth += 1)
    if ('code' in current && typeof current.code === 'string') return current.code
  return undefined
}

/** Whether the other side's certificate is signed by an authority that is not trusted here. */
export function isUnknownAuthority(error: unknown): boolean {
  return unknownAuthority.has(causeCode(error) ?? '')
}

/** What is wrong with the dates of the other side's certificate, as the end of a sentence; undefined for anything else. */
export function validityProblem(error: unknown): string | undefined {
  const code = causeCode(error)
  const clock = 'check the clock of this computer'
  if (code === 'CERT_NOT_YET_VALID') return `is not valid yet: ${clock}, which may be behind`
  return code === 'CERT_HAS_EXPIRED'
    ? `has expired: ${clock}, which may be ahead, or ask the operator of the platform`
    : undefined
}
