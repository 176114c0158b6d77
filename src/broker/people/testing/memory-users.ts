// People in memory, with the one promise of the store that tests rely on: one holder of the lock at a time. Test code only.
import type { StoredUser, Users } from '../../../store/users.ts'

/** Holds one person, whatever id is given. */
export function memoryUsers(first?: StoredUser): Users {
  let user = first
  let last: Promise<unknown> = Promise.resolve()
  return {
    save: async next => {
      user = next
    },
    find: async () => user,
    remove: async () => {
      user = undefined
    },
    withRefreshLock: (_host, _userId, work) => {
      const run = last.then(work)
      last = run.catch(() => undefined)
      return run
    },
  }
}
