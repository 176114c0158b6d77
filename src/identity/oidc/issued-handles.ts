// Remembers which codes and refresh tokens this process issued lately, and under which grant, as hashes only. It proves that a
// token request is not a stranger's before the store is read; what it has forgotten, or another replica issued, is a stranger's
// until it is issued again.
import { createHash } from 'node:crypto'
import { BoundedMap } from '../../lib/bounded-map.ts'

export type IssuedHandles = {
  readonly issued: (handle: string, grant: string | undefined) => void
  /** The grant, or a key of the handle's own while nobody has consented; undefined for a handle that is not known. */
  readonly grantOf: (handle: string) => string | undefined
}

const maxHandles = 20_000

// Memory (issued handles): hash of a code or refresh token → its grant, for limits only
//   life: until forgotten or restart
//   bound: 20,000, the oldest forgotten first
//   freshness: none is needed: the store decides about the handle
//   replicas: each knows its own; a request with a handle of the other counts for its address until it is issued again
/** Nothing is known at first. */
export function createIssuedHandles(): IssuedHandles {
  const known = new BoundedMap<string>(maxHandles)
  const hashOf = (handle: string): string => createHash('sha256').update(handle).digest('base64url')
  return {
    issued(handle, grant) {
      const hash = hashOf(handle)
      known.set(hash, grant ?? hash)
    },
    grantOf: handle => known.get(hashOf(handle)),
  }
}
