// The serving certificate of a process, replaceable while it serves: read from two files that an operator or a Secret mount renews.
// Owns reading and noticing a change. A pair that does not fit together is refused and the old one stays in use.
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync, unwatchFile, watchFile } from 'node:fs'
import { AppError, messageOf } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { SecretString } from '../lib/secret-string.ts'

/** PEM texts: the leaf first, then its intermediates. */
export type KeyPair = { readonly certificate: string; readonly privateKey: SecretString }

export type Certificate = {
  readonly current: () => KeyPair
  /** Calls back with every later pair; returns how to stop. */
  readonly onChange: (listener: (pair: KeyPair) => void) => () => void
}

/** Throws `invalid_configuration` when the key is not the certificate's. */
export function checkKeyPair(pair: KeyPair): KeyPair {
  try {
    if (new X509Certificate(pair.certificate).checkPrivateKey(createPrivateKey(pair.privateKey.reveal()))) return pair
  } catch (cause) {
    throw new AppError('invalid_configuration', 'the TLS certificate or its key is not readable PEM', { cause })
  }
  throw new AppError('invalid_configuration', 'the TLS key does not belong to the TLS certificate')
}

/** A pair that somebody else renews by calling `replace`. */
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
 * Watches both files. They are asked for every few seconds rather than watched by the kernel: a Secret mount is a chain of symbolic
 * links that is swapped as a whole, which file events do not show. `stop` ends the watching.
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
      // Half-written pairs happen while both files are being replaced; the next look finds them whole.
      deps.log.error({ path: files.certificatePath, reason: messageOf(error) }, 'TLS certificate not reloaded')
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
