// Where a sealed value belongs, as it stands in the protected header of its JWE (RFC 7516 §4.3: private header parameters). The
// header is authenticated with the ciphertext, so a value that was moved to another place does not open there. Pure.

/** One key of one AppSecret. */
export type SealedPlace = { readonly namespace: string; readonly name: string; readonly key: string }

/** The header parameter. */
export const placeParameter = 'sekisho.dev/place'

/** Neither namespaces nor names contain a slash. */
export function placeText({ namespace, name, key }: SealedPlace): string {
  return `${namespace}/${name}/${key}`
}

/** ECDH-ES with AES key wrap and AES-GCM (RFC 7518 §4.6, §5.3), over P-256. */
export const sealedAlgorithms = { alg: 'ECDH-ES+A256KW', enc: 'A256GCM' } as const
