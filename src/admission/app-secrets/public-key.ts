// The public key to which values of AppSecrets are sealed. The controllers write it into a ConfigMap, which is mounted here
// (the standalone process asks them): a key that nobody has to keep secret is all that admission knows. The file is read at
// each use, because a mount changes without a notice and such writes are rare.
import { readFile } from 'node:fs/promises'
import { type SealValue, sealerOf } from '../../identity/sealed-values/seal.ts'
import { messageOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'

/** Undefined until the file exists and holds a key. Never rejects. */
export type FindSealer = () => Promise<SealValue | undefined>

/** The key in a file. */
export function sealerFromFile(path: string, deps: { readonly log: Log }): FindSealer {
  return sealerFrom(() => readFile(path, 'utf8'), deps)
}

/** The key as `read` gives it at each use; the same text is parsed once. */
export function sealerFrom(read: () => Promise<string>, { log }: { readonly log: Log }): FindSealer {
  let known: { readonly text: string; readonly seal: SealValue } | undefined
  return async () => {
    try {
      const text = await read()
      if (known?.text !== text) known = { text, seal: await sealerOf(text) }
      return known.seal
    } catch (error) {
      log.error({ error: messageOf(error) }, 'there is no key for values of AppSecrets: they are refused')
      return undefined
    }
  }
}
