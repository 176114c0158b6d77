// A refresh token may be sent again for a moment after its use, while nobody has used its successor: the answer may have been
// lost. The successor before is then worth nothing any more, so that one token of a sign-in is good at any time, and a thief who
// sends the token again is found out when either side uses its own (docs/adr/0073-a-refresh-whose-answer-was-lost.md).
// Sources: RFC 9700 §4.14.2; https://www.rfc-editor.org/rfc/rfc6749#section-6
import { errors, Provider } from 'oidc-provider'
import type { FoundRecord } from './oidc-record.ts'

/** `sekisho` waits 30 seconds for an answer, and then tries again at once. */
export const graceSeconds = 60

/** What it needs of the store of records. */
export type RefreshGraceStore = {
  readonly consumeAgain: (model: string, id: string, since: Date) => Promise<Date | undefined>
  readonly isConsumedAt: (model: string, id: string, mark: Date) => Promise<boolean>
  readonly retireOthers: (model: string, id: string, grantId: string) => Promise<boolean>
  readonly destroy: (model: string, id: string) => Promise<void>
}

export type RefreshGraceDeps = {
  readonly store: RefreshGraceStore
  readonly now: () => Date
  /** Hears of every refresh token that was sent again, before anything follows from it: `isAccepted`: it gets a successor. */
  readonly replayed: (subject: string, isAccepted: boolean) => Promise<void>
  /** What one request is known by: the provider's context of it. */
  readonly request?: () => object | undefined
}

export type RefreshGrace = {
  /** The record as the provider may see it: a use that may be repeated is hidden from it, any other one is recorded. */
  readonly seen: (found: FoundRecord | undefined) => Promise<FoundRecord | undefined>
  /** This request used the token for the first time. */
  readonly used: (id: string, mark: Date) => void
  /** Whether this request may use it again, and does. */
  readonly usedAgain: (id: string, found: FoundRecord) => Promise<boolean>
  /** A token was saved: rejects with `temporarily_unavailable`, and takes it back, when another request used its parent again. */
  readonly saved: (id: string) => Promise<void>
}

const model = 'RefreshToken'
type Use = { readonly id: string; readonly mark: Date }

const subjectOf = ({ payload }: FoundRecord): string => String(payload['accountId'] ?? 'unknown')

/** Keeps nothing between requests. */
export function createRefreshGrace(deps: RefreshGraceDeps): RefreshGrace {
  const { store, now, replayed, request = () => Provider.ctx } = deps
  const uses = new WeakMap<object, Use>()
  const since = (): Date => new Date(now().getTime() - graceSeconds * 1000)
  const remember = (use: Use): void => {
    const key = request()
    if (key !== undefined) uses.set(key, use)
  }
  return {
    async seen(found) {
      if (found?.consumed === undefined || Provider.ctx?.oidc.route === 'revocation') return found
      // Whole seconds: `usedAgain` looks at the exact time.
      const { consumed, ...unused } = found
      if (consumed >= Math.floor(since().getTime() / 1000)) return unused
      await replayed(subjectOf(found), false)
      return found
    },
    used: (id, mark) => remember({ id, mark }),
    async usedAgain(id, found) {
      const { grantId } = found.payload
      // In this order: from the mark on no other request keeps a successor, from then on none that exists is good, and then it is
      // certain whether one was used.
      const mark = await store.consumeAgain(model, id, since())
      const isLast = mark !== undefined && typeof grantId === 'string' && (await store.retireOthers(model, id, grantId))
      await replayed(subjectOf(found), isLast)
      if (mark !== undefined) remember({ id, mark })
      return isLast
    },
    async saved(id) {
      const key = request()
      const use = key === undefined ? undefined : uses.get(key)
      if (use === undefined || use.id === id || (await store.isConsumedAt(model, use.id, use.mark))) return
      await store.destroy(model, id)
      throw new errors.TemporarilyUnavailable('the same refresh token was sent by two requests at once: try again')
    },
  }
}
