// Proves at the start that the sealing keys are those of this process and this database: every platform key that is stored must
// open. The first start stores one of its own, so that there is always something to open.
import { randomBytes } from 'node:crypto'
import { AppError, isAppError } from '../../lib/errors.ts'
import { SecretString } from '../../lib/secret-string.ts'
import type { PlatformKeys } from '../platform-keys.ts'

/** The names of the stored keys; `platformKeyRow` or `deskKeyRow` of Prisma. */
export type KeyNames = {
  readonly findMany: (query: {
    readonly select: { readonly name: true }
    readonly take: number
  }) => PromiseLike<readonly { readonly name: string }[]>
}

const markerName = 'sealing-keys-marker'
const maxKeys = 500

/** Throws `invalid_configuration` that names the variable and the cure, and never a key. */
export async function checkSealingKeys(keys: PlatformKeys, rows: KeyNames, schema: string): Promise<void> {
  const stored = await rows.findMany({ select: { name: true }, take: maxKeys })
  for (const { name } of stored.length === 0 ? [{ name: markerName }] : stored) {
    try {
      await keys.getOrCreate(name, async () => new SecretString(randomBytes(32).toString('base64')))
    } catch (cause) {
      if (!isAppError(cause, 'integrity_violation')) throw cause
      throw new AppError(
        'invalid_configuration',
        `SEKISHO_SEALING_KEYS does not open what is stored in schema ${schema} (${name}): these are the keys of another process or database, or a former key is missing. Set the keys with which this process ran before; a new key goes in front of them.`,
        { cause },
      )
    }
  }
}
