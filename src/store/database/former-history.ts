// The ten migrations that 0001_init replaces, by the SHA-256 of their SQL. A database that has all of them recorded has the
// tables of 0001_init; with some of them only it is of no version that can be brought further.
import { AppError } from '../../lib/errors.ts'

/** A finished migration in `_prisma_migrations`. */
export type Recorded = { readonly migration_name: string; readonly checksum: string }

/** Names to checksums, in the order in which they were applied. */
export const formerHistory: Readonly<Record<string, string>> = {
  '0001_init': '57290400ef30521d43e8064947cfd5007f904404b138ce706e897a9e54c0b6c4',
  '0002_delivery_bodies_uncompressed': '8c9970a5bf896e98f3ca6db9bdf182eeaeb2bbead00f8e933e31e151e1b01013',
  '0003_issuer_records_by_account': '0bf11ddc670c47bdb2567e4f24cc7fe64b708ee38095429cab7fa2b7e8d80ad5',
  '0004_onboarding_states': 'ce8b88b5e6c815ebb1631d2cd4d8fbfb356f6bef2090f4c6bd40f70fb379f37d',
  '0005_token_ends': '4b21970e7174c4e1886cf56a6043f3768aa03b2b44923a174f02d9f7bc0c6753',
  '0006_platform_keys_by_process': '8d41970371c65d7fa8affa477a1b8610e29998dfd285ae0e97c5c14e41be4d9e',
  '0007_attempts': '50452fdf8549c2c3382795b43ec725d94fe1797bce7cf1dc6523ab05884c2bfe',
  '0008_build_logs': 'cbf2f2aa14fdf8df32205097efbbdd7c73ce6fff6a85cebe1ae55a2e6c7bdcc3',
  '0009_images': '6f8877097367137203b1b5083acc2a02753cec33ac48ca4dcefc122a1d5458ec',
  '0010_preview_images': '303d208733e0dfade1cec4b46bfb4353e805a0a2689fb2feb8242f257766341f',
}

/**
 * The records without the former history, and whether the database has all of it. Throws `invalid_configuration` when it has
 * a part of it, or all of it and `0001_init` in its present form as well.
 */
export function withoutFormerHistory<Row extends Recorded>(
  applied: readonly Row[],
): { readonly hasAll: boolean; readonly rest: readonly Row[] } {
  const isFormer = (row: Row): boolean => formerHistory[row.migration_name] === row.checksum
  const rest = applied.filter(row => !isFormer(row))
  const found = new Set(applied.filter(isFormer).map(({ migration_name: name }) => name))
  const missing = Object.keys(formerHistory).filter(name => !found.has(name))
  const both = rest.some(({ migration_name: name }) => name in formerHistory)
  if (found.size > 0 && (missing.length > 0 || both))
    throw new AppError(
      'invalid_configuration',
      `the database has a part of a former history of migrations (${[...found].join(', ')}): complete it with the version that began it, or use an empty database`,
    )
  return { hasAll: found.size > 0, rest }
}
