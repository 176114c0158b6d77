// The certificates of a PEM text, one by one: Node.js reads only the first of several. Pure.
// Source: RFC 7468 §5.1 (label CERTIFICATE).

/**
 * Each certificate as PEM, in order; empty when there is none. What is in them is not checked: `new X509Certificate` throws for
 * what is not one.
 */
export function certificateBlocks(pem: string): readonly string[] {
  return pem.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? []
}
