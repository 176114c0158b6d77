// The port of the source store for controllers: it has one commit downloaded from GitHub and stored under an unguessable
// address, which ends with its build. The token is used here, for one HTTPS request; only the bytes of the pack leave this
// process, and it never reads them. What reads them, and serves them to builds, is the process of the store (main.ts), which
// gets orders over a unix socket.
import type { Clock } from '../../../lib/clock.ts'
import { AppError, messageOf } from '../../../lib/errors.ts'
import { createFairTurns } from '../../../lib/limits/fair-turns.ts'
import type { Log } from '../../../lib/log.ts'
import type { SecretString } from '../../../lib/secret-string.ts'
import { SingleFlight } from '../../../lib/single-flight.ts'
import { createPackRequests, type FetchRequest } from './fetch/request-pack.ts'
import { failed } from './git/refusals.ts'
import { maxAtOnce } from './held-sources.ts'
import { createOrderClient } from './orders/order-client.ts'
import { type SourceIdentity, sourceFingerprint, sourceSecret, sourceUrl } from './source-address.ts'

export type SourceRequest = FetchRequest & {
  readonly identity: SourceIdentity
  /** The uid of the object for which it is fetched: `revokeOwner` takes it. */
  readonly owner: string
  /** From the end of the fetch. */
  readonly lifetimeSeconds: number
  /**
   * The folder that is built, `` for the root: submodules and files in Git LFS in it are refused. Undefined when they are not
   * needed.
   */
  readonly completeBelow: string | undefined
}

export type SourceStore = {
  /** Whether the commit is stored and has not expired. */
  readonly has: (identity: SourceIdentity) => Promise<boolean>
  /**
   * Resolves to the address of the source; fetches it unless it is stored, and equal requests share one fetch. Rejects with an
   * AppError whose reason is CommitNotFound, SourceTooLarge, SourceMalformed or SourceIncomplete (another try would find the
   * same) or FetchFailed, and with `unavailable` when the store is full or does not answer.
   */
  readonly ensure: (request: SourceRequest, signal: AbortSignal) => Promise<{ readonly url: string }>
  /** Deletes a source, which ends its address. Idempotent. */
  readonly revoke: (identity: SourceIdentity) => Promise<void>
  /** Deletes every source that was fetched for the object with this uid. Idempotent. */
  readonly revokeOwner: (owner: string) => Promise<void>
}

export type SourceStoreDeps = {
  /** The unix socket on which the process of the store takes orders. */
  readonly socket: string
  /** The key of the addresses, the same after a restart: 32 random bytes in any text form. */
  readonly addressKey: SecretString
  /** The address at which builds reach the server, such as http://sekisho-source.sekisho-system.svc:8081. */
  readonly publicUrl: URL
  /** Of one fetch with its checks. */
  readonly timeoutMilliseconds: number
  readonly clock: Clock
  readonly log: Pick<Log, 'info'>
}

// Memory (fetches of sources): equal concurrent requests → one fetch; tenant → fetches that wait for a place
//   life: until it settles
//   bound: four at once, of a tenant three; 100 of a tenant wait
//   freshness: its end
//   replicas: leader only; the next fetches again
/** `close` ends the connections; calls after it fail. Sends nothing before the first call. */
export function createSourceStore(deps: SourceStoreDeps): SourceStore & { readonly close: () => Promise<void> } {
  const { addressKey, publicUrl, timeoutMilliseconds, clock, log } = deps
  const orders = createOrderClient(deps.socket)
  const packs = createPackRequests(deps.clock)
  const flights = new SingleFlight<void>()
  /** Of a tenant all but one: a repository that is slow to download does not stop the fetches of others. */
  const turns = createFairTurns(maxAtOnce)

  const secretOf = (identity: SourceIdentity): string => sourceSecret(addressKey, identity)
  const fingerprintOf = (identity: SourceIdentity): string => sourceFingerprint(secretOf(identity))

  async function download(request: SourceRequest, signal: AbortSignal): Promise<void> {
    const { identity, owner, lifetimeSeconds, completeBelow } = request
    const { shallow, pack } = await packs.request(request, signal)
    const order = { ...identity, owner, lifetimeSeconds, shallow, completeBelow }
    await orders.store(fingerprintOf(identity), order, { pack, signal })
  }

  async function fetchSource(request: SourceRequest, signal: AbortSignal): Promise<void> {
    const started = clock.now().getTime()
    const late = AbortSignal.timeout(timeoutMilliseconds)
    try {
      await download(request, AbortSignal.any([signal, late]))
      log.info({ ...request.identity, milliseconds: clock.now().getTime() - started }, 'source fetched')
    } catch (error) {
      if (signal.aborted) throw signal.reason
      if (late.aborted) throw failed(`git fetch failed: it did not end within ${timeoutMilliseconds / 1000} s`)
      throw error instanceof AppError ? error : failed(`git fetch failed: ${messageOf(error)}`)
    }
  }

  return {
    has: identity => orders.has(fingerprintOf(identity)),
    async ensure(request, signal) {
      const { identity } = request
      const fingerprint = fingerprintOf(identity)
      if (!(await orders.has(fingerprint)))
        await flights.run(fingerprint, () => turns.run(identity.namespace, () => fetchSource(request, signal)))
      return { url: sourceUrl(publicUrl, secretOf(identity)) }
    },
    revoke: identity => orders.revoke(fingerprintOf(identity)),
    revokeOwner: owner => orders.revokeOwner(owner),
    async close() {
      orders.close()
      await packs.close()
    },
  }
}
