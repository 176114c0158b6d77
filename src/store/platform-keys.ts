// Keys that a process creates once for its own use (such as those that sign ID tokens), sealed and the same for all its
// replicas. Broker and controllers have a table each, which the other's role cannot read. It never replaces a key and passes it
// to the caller only.
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/errors.ts'
import type { SecretString } from '../lib/secret-string.ts'
import type { Sealer } from './seal.ts'

/** The port for platform keys. */
export type PlatformKeys = {
  /** The key of that name; undefined when it does not exist. */
  readonly find: (name: string) => Promise<SecretString | undefined>
  /**
   * The key of that name (1 to 100 characters), created by `make` and sealed when it does not exist. All replicas get the same
   * key.
   */
  readonly getOrCreate: (name: string, make: () => Promise<SecretString>) => Promise<SecretString>
}

/** The table of one process, as far as keys need it: `platformKeyRow` or `deskKeyRow` of Prisma. */
export type KeyRows = {
  readonly findUnique: (query: { readonly where: { readonly name: string } }) => PromiseLike<{ readonly sealed: string } | null>
  readonly createMany: (rows: {
    readonly data: { readonly name: string; readonly sealed: string; readonly createdAt: Date }[]
    readonly skipDuplicates: true
  }) => PromiseLike<unknown>
}

type PlatformKeysDeps = { readonly rows: KeyRows; readonly sealer: Sealer; readonly clock: Clock }

/** Platform keys over Prisma. */
export function createPlatformKeys(deps: PlatformKeysDeps): PlatformKeys {
  const { rows, sealer, clock } = deps
  const find = async (name: string): Promise<SecretString | undefined> => {
    const row = await rows.findUnique({ where: { name } })
    return row === null ? undefined : sealer.open(row.sealed, platformKeySealContext(name))
  }
  return {
    find,
    async getOrCreate(name, make) {
      if (name === '' || name.length > 100)
        throw new AppError('invalid_request', 'the name of a key must have 1 to 100 characters')
      const known = await find(name)
      if (known !== undefined) return known
      const sealed = sealer.seal(await make(), platformKeySealContext(name))
      // Of two processes that create the key at the same time, the first one's key stays.
      await rows.createMany({ data: [{ name, sealed, createdAt: clock.now() }], skipDuplicates: true })
      const stored = await find(name)
      if (stored === undefined) throw new AppError('unavailable', 'a platform key was stored and cannot be read back')
      return stored
    },
  }
}

/** What binds the seal of a key to its row. */
export function platformKeySealContext(name: string): string {
  return `platform-key:${name}`
}
