// Reads Secrets of the platform's namespace one by one, by name: the keys of the GitHub Apps and an admin's registry
// credentials. Nothing lists or watches Secrets, so the process needs no right on those that are not named. What was read
// counts for a few seconds.
import { secrets } from '../api/builtin/index.ts'
import type { NamedSecret, ReadNamedSecret } from '../api/named-secret.ts'
import { platformNamespace } from '../api/names.ts'
import type { KubeClient } from '../kube/client/client.ts'
import { isKubeError } from '../kube/client/errors.ts'
import { BoundedMap } from '../lib/bounded-map.ts'
import type { Clock } from '../lib/clock.ts'
import { SingleFlight } from '../lib/single-flight.ts'

export type PlatformSecretsDeps = {
  readonly client: Pick<KubeClient, 'get'>
  readonly clock: Pick<Clock, 'now'>
  /** Default sekisho-system. */
  readonly namespace?: string
}

const keepMilliseconds = 5000
/** The keys of the Apps, and two credentials of each tenant where an admin makes them. */
const maxSecrets = 20_000

// Memory (Secrets of the platform that were read): name → Secret; equal reads share one request
//   life: 5 s; longer only while the API server does not answer
//   bound: 20,000, the one read longest ago forgotten first
//   freshness: the next read; a missing Secret is not kept
//   replicas: each reads
/** A changed Secret counts after five seconds; while the API server does not answer, the last answer does. */
export function createPlatformSecrets(deps: PlatformSecretsDeps): ReadNamedSecret {
  const { client, clock, namespace = platformNamespace } = deps
  const known = new BoundedMap<{ readonly answer: NamedSecret; readonly until: number }>(maxSecrets)
  const flights = new SingleFlight<NamedSecret>()

  const ask = async (name: string): Promise<NamedSecret> => {
    try {
      const secret = await client.get(secrets, { namespace, name })
      return secret === undefined ? { kind: 'absent' } : { kind: 'found', secret }
    } catch (error) {
      if (isKubeError(error, 403)) return { kind: 'forbidden' }
      const before = known.get(name)?.answer
      if (!isKubeError(error) || !error.retryable || before === undefined) throw error
      return before
    }
  }

  return async name => {
    const before = known.get(name)
    if (before !== undefined && before.until > clock.now().getTime()) return before.answer
    return flights.run(name, async () => {
      const answer = await ask(name)
      // What is missing is asked for again, so that it counts as soon as it is there.
      if (answer.kind === 'found') known.set(name, { answer, until: clock.now().getTime() + keepMilliseconds })
      else known.delete(name)
      return answer
    })
  }
}
