// The serving certificate of a process, which can be replaced while it serves: two files that an operator or a Secret mount
// renews, and a third with the authority of its clients where they must have certificates. A certificate and key that do not
// belong together are rejected, and the old pair stays in use.
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { certificateBlocks } from '../lib/certificate-blocks.ts'
import { AppError, messageOf } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { SecretString } from '../lib/secret-string.ts'
import { pollFiles } from './poll-files.ts'

/** PEM texts: the leaf first, then its intermediates. */
export type KeyPair = {
  readonly certificate: string
  readonly privateKey: SecretString
  /**
   * The authorities by which clients are verified, in PEM; a client without a certificate of one of them is then refused in the
   * handshake.
   */
  readonly clientAuthorities?: string
}

export type Certificate = {
  readonly current: () => KeyPair
  /** Calls the listener with every later pair; returns a function that unsubscribes. */
  readonly onChange: (listener: (pair: KeyPair) => void) => () => void
}

/**
 * Returns the pair. Throws `invalid_configuration` when the key does not belong to the certificate, or an authority is not
 * readable.
 */
export function checkKeyPair(pair: KeyPair): KeyPair {
  if (pair.clientAuthorities !== undefined) checkAuthorities(pair.clientAuthorities)
  try {
    if (new X509Certificate(pair.certificate).checkPrivateKey(createPrivateKey(pair.privateKey.reveal()))) return pair
  } catch (cause) {
    throw new AppError('invalid_configuration', 'the TLS certificate or its key is not readable PEM', { cause })
  }
  throw new AppError('invalid_configuration', 'the TLS key does not belong to the TLS certificate')
}

/** Without any certificate in it OpenSSL would verify clients by its own list of authorities. */
function checkAuthorities(pem: string): void {
  try {
    const found = certificateBlocks(pem)
    for (const one of found) new X509Certificate(one)
    if (found.length > 0) return
  } catch (cause) {
    throw new AppError('invalid_configuration', 'the authority of the clients’ certificates is not readable PEM', { cause })
  }
  throw new AppError('invalid_configuration', 'the file with the authority of the clients’ certificates contains no certificate')
}

/** A certificate that changes by `replace`, which throws like `checkKeyPair`. */
export function createCertificate(first: KeyPair): Certificate & { readonly replace: (pair: KeyPair) => void } {
  let pair = checkKeyPair(first)
  const listeners = new Set<(pair: KeyPair) => void>()
  return {
    current: () => pair,
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    replace(next) {
      pair = checkKeyPair(next)
      for (const listener of listeners) listener(pair)
    },
  }
}

export type CertificateFiles = {
  readonly certificatePath: string
  readonly privateKeyPath: string
  /** Present: clients must have certificates. */
  readonly clientAuthorityPath?: string | undefined
}

function readPair({ certificatePath, privateKeyPath, clientAuthorityPath }: CertificateFiles): KeyPair {
  return {
    certificate: readPem(certificatePath),
    privateKey: new SecretString(readPem(privateKeyPath)),
    ...(clientAuthorityPath === undefined ? {} : { clientAuthorities: readPem(clientAuthorityPath) }),
  }
}

function readPem(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new AppError(
      'invalid_configuration',
      `failed to read the TLS file ${path}: ${messageOf(cause)}. Mount the Secret there, or name the place by the variables for TLS files (docs/reference/environment.md).`,
      { cause },
    )
  }
}

function isSamePair(a: KeyPair, b: KeyPair): boolean {
  return a.certificate === b.certificate && a.privateKey.equals(b.privateKey) && a.clientAuthorities === b.clientAuthorities
}

/**
 * Reads the files again at an interval and takes over what changed. What they contain is compared, not their times: a change
 * between the first read and the first look at the times would never be noticed. Throws `invalid_configuration` when the first
 * pair is missing or not valid; `stop` ends the polling.
 */
export function certificateFromFiles(
  files: CertificateFiles,
  deps: { readonly log: Log; readonly intervalMilliseconds?: number },
): Certificate & { readonly stop: () => void } {
  const certificate = createCertificate(readPair(files))
  const path = files.certificatePath
  const takeOver = (): boolean => {
    const next = readPair(files)
    if (isSamePair(next, certificate.current())) return false
    certificate.replace(next)
    deps.log.info({ path }, 'TLS certificate reloaded')
    return true
  }
  // Expected while the two files are being replaced; the next poll finds both.
  const failed = (error: string): void => deps.log.error({ path, error }, 'failed to reload TLS certificate')
  const { stop } = pollFiles({ takeOver, failed, intervalMilliseconds: deps.intervalMilliseconds ?? 5000 })
  return { ...certificate, stop }
}
