// Owns: reading a snapshot that an earlier version wrote: what it lacks gets the value that it meant then. Never touches the disk.
import { everyMergeMethod } from './repositories.ts'
import { emptyWorld, type World } from './world.ts'

/** Everything that version 1 did not know. */
const fromFirstVersion = (old: Omit<World, 'version'>): World => {
  const empty = emptyWorld()
  return {
    ...empty,
    ...old,
    version: 2,
    organizations: old.organizations.map(one => ({
      ...one,
      memberships: one.memberships.map(member => ({ ...member, publicized: member.publicized ?? false })),
    })),
    repositories: old.repositories.map(one => ({
      ...one,
      parentId: one.parentId ?? null,
      mergeMethods: one.mergeMethods ?? { ...everyMergeMethod },
      deleteBranchOnMerge: one.deleteBranchOnMerge ?? false,
    })),
    apps: old.apps.map(one => ({ ...one, deviceFlow: one.deviceFlow ?? false })),
    credentials: {
      ...empty.credentials,
      ...old.credentials,
      accessTokens: Object.fromEntries(
        Object.entries(old.credentials.accessTokens).map(([key, token]) => [
          key,
          token.kind === 'user' ? { ...token, scope: token.scope ?? null } : token,
        ]),
      ),
      refreshTokens: Object.fromEntries(
        Object.entries(old.credentials.refreshTokens).map(([key, token]) => [
          key,
          { ...token, byDevice: token.byDevice ?? false },
        ]),
      ),
    },
  }
}

/** The world of a snapshot, or `undefined` when no version of the emulator that is known wrote it. */
export const upgradeWorld = (snapshot: Omit<World, 'version'> & { readonly version: number }): World | undefined => {
  if (snapshot.version === 2) return { ...snapshot, version: 2 }
  return snapshot.version === 1 ? fromFirstVersion(snapshot) : undefined
}
