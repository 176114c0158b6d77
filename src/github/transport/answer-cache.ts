// Answers of GitHub that may still hold: their entity tag, and what was read of them. GitHub answers a request that names the
// tag with 304 and does not count it, if nothing has changed. A stored value is returned only after such a 304, which GitHub
// gave to the token of that very request: whoever lost access gets GitHub's refusal, never an old answer.
// Source:
// https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api#use-conditional-requests-if-appropriate
import { BoundedMap } from '../../lib/bounded-map.ts'

type StoredAnswer = { readonly etag: string; readonly value: unknown }

/**
 * Keys name the scope (an installation), the route and its parameters. Values are the few fields that were read, never whole
 * answers.
 */
export type AnswerCache = Pick<Map<string, StoredAnswer>, 'get' | 'set'>

const maxAnswers = 20_000

// Memory (remembered answers): installation, route and parameters → entity tag and the fields that were read
//   life: until GitHub answers with another tag
//   bound: 20,000, the least recently used forgotten first
//   freshness: GitHub: a value is returned only after its 304 to the token of that request
//   replicas: leader only; the next begins without
/**
 * Empty; the answer that was used longest ago is dropped first. Tags change with the token, so that a new one costs a full
 * answer each.
 */
export function createAnswerCache(most = maxAnswers): AnswerCache {
  return new BoundedMap<StoredAnswer>(most)
}
