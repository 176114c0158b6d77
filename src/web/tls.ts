// The serving certificate of a process, which can be replaced while it serves: two files that an operator or a Secret mount renews.
// A certificate and key that do not belong together are rejected, and the old pair stays in use.
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync, unwatchFile, watchFile } from 'node:fs'
import { AppError, messageOf } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { SecretString } from '../lib/secret-string.ts'

/** PEM texts: the leaf first, then its intermediates. */
export type KeyPair = { readonly certificate: string; readonly privateKey: SecretString }

export type Certificate = {
  readonly current: () => KeyPair
  /** Calls the listener with every later pair; returns a function that unsubscribes. */
  readonly onChange: (listener: (pair: KeyPair) => void) => () => void
}

/** Returns the pair. Throws `invalid_configuration` when the key does not belong to the certificate. */
export function checkKeyPair(pair: KeyPair): KeyPair {
  try {
    if (new X509Certificate(pair.certificate).checkPrivateKey(createPrivateKey(pair.privateKey.reveal()))) return pair
  } catch (cause) {
    throw new AppError('invalid_configuration', 'the TLS certificate or its key is not readable PEM', { cause })
  }
  throw new AppError('invalid_configuration', 'the TLS key does not belong to the TLS certificate')
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

export type CertificateFiles = { readonly certificatePath: string; readonly privateKeyPath: string }

function readPair(files: CertificateFiles): KeyPair {
  return {
    certificate: readFileSync(files.certificatePath, 'utf8'),
    privateKey: new SecretString(readFileSync(files.privateKeyPath, 'utf8')),
  }
}

/**
 * Watches both files. They are polled rather than watched by the kernel: a Secret mount is a chain of symbolic links that is swapped as a
 * whole, for which file events are not delivered. Throws when the first pair is not valid; `stop` ends the polling.
 */
export function certificateFromFiles(
  files: CertificateFiles,
  deps: { readonly log: Log; readonly intervalMilliseconds?: number },
): Certificate & { readonly stop: () => void } {
  const certificate = createCertificate(readPair(files))
  const reload = (): void => {
    try {
      const next = readPair(files)
      const current = certificate.current()
      if (next.certificate === current.certificate && next.privateKey.equals(current.privateKey)) return
      certificate.replace(next)
      deps.log.info({ path: files.certificatePath }, 'TLS certificate reloaded')
    } catch (error) {
      // Expected while the two files are being replaced; the next poll finds both.
      deps.log.error({ path: files.certificatePath, error: messageOf(error) }, 'failed to reload TLS certificate')
    }
  }
  const options = { interval: deps.intervalMilliseconds ?? 5000, persistent: false }
  const paths = [files.certificatePath, files.privateKeyPath]
  for (const path of paths) watchFile(path, options, reload)
  return {
    ...certificate,
    stop() {
      for (const path of paths) unwatchFile(path, reload)
    },
  }
}
