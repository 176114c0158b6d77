// How many logs are followed at once: each asks the database once a second. A person has a few, and all people together a
// bounded number.
import { AppError } from '../../lib/errors.ts'

const maxOfPerson = 4
const most = 200

export type Followers = {
  /** Takes a place for the person; the result gives it back. Throws `too_many_requests` without one. */
  readonly enter: (subject: string) => () => void
}

// Memory (followed logs): person → how many logs they follow
//   life: the request, ten minutes at most
//   bound: 4 of a person, 200 in all
//   freshness: the end of the request
//   replicas: each counts
/** Nobody follows. `what` is for messages. */
export function createFollowers(what = 'build logs'): Followers {
  const counts = new Map<string, number>()
  let all = 0
  return {
    enter(subject) {
      const own = counts.get(subject) ?? 0
      if (own >= maxOfPerson)
        throw new AppError('too_many_requests', `you follow ${own} ${what} already: end one of them`, {
          retryAfterSeconds: 10,
        })
      if (all >= most)
        throw new AppError('too_many_requests', `too many ${what} are being followed: try again later`, {
          retryAfterSeconds: 30,
        })
      counts.set(subject, own + 1)
      all += 1
      let entered = true
      return () => {
        if (!entered) return
        entered = false
        all -= 1
        const left = (counts.get(subject) ?? 1) - 1
        if (left === 0) counts.delete(subject)
        else counts.set(subject, left)
      }
    },
  }
}
