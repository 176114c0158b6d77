// Keys that the platform creates once for its own use (such as those that sign ID tokens), sealed and the same for every process.
// It never replaces a key and passes it to the caller only.
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/errors.ts'
import type { SecretString } from '../lib/secret-string.ts'
import type { PrismaClient } from './generated/client.ts'
import type { Sealer } from './seal.ts'

/** The port for platform keys. */
export type PlatformKeys = {
  /** The key of that name (1 to 100 characters), created by `make` and sealed when it does not exist. All processes get the same key. */
  readonly getOrCreate: (name: string, make: () => Promise<SecretString>) => Promise<SecretString>
}

type PlatformKeysDeps = { readonly prisma: PrismaClient; readonly sealer: Sealer; readonly clock: Clock }

/** Platform keys over Prisma. */
export function createPlatformKeys(deps: PlatformKeysDeps): PlatformKeys {
  const { prisma, sealer, clock } = deps
  const context = (name: string): string => `platform-key:${name}`
  const find = async (name: string): Promise<SecretString | undefined> => {
    const row = await prisma.platformKeyRow.findUnique({ where: { name } })
    return row === null ? undefined : sealer.open(row.sealed, context(name))
  }
  return {
    async getOrCreate(name, make) {
      if (name === '' || name.length > 100)
        throw new AppError('invalid_request', 'the name of a key must have 1 to 100 characters')
      const known = await find(name)
      if (known !== undefined) return known
      const sealed = sealer.seal(await make(), context(name))
      // Of two processes that create the key at the same time, the first one's key stays.
      await prisma.platformKeyRow.createMany({ data: [{ name, sealed, createdAt: clock.now() }], skipDuplicates: true })
      const stored = await find(name)
      if (stored === undefined) throw new AppError('unavailable', 'a platform key was stored and cannot be read back')
      return stored
    },
  }
}
