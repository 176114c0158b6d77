// Bounds how many large bodies arrive at once. Small bodies, which nearly all deliveries have, never come here. When there are
// too many, the one that arrives most slowly is ended: GitHub sends at full speed and waits ten seconds for an answer, so a
// slow sender is not GitHub.
// Source: https://docs.github.com/en/webhooks/using-webhooks/handling-webhook-deliveries (ten seconds)
import type { Readable } from 'node:stream'
import { AppError } from '../../../lib/errors.ts'

/** A body while it arrives. */
type Arriving = { readonly body: Readable; readonly since: number; bytes: number }

/** So that a body that has just begun is not the slowest by definition: a megabyte a second at first. */
const headStart = { bytes: 256 * 1024, milliseconds: 250 }

function speed({ bytes, since }: Arriving, now: number): number {
  return (bytes + headStart.bytes) / (now - since + headStart.milliseconds)
}

export type LargeBodies = {
  /** Passes the body on, chunk by chunk. The slowest of too many rejects with `unavailable`, and its connection is closed. */
  readonly admit: (body: Readable) => AsyncIterable<Buffer>
  readonly count: () => number
}

// Memory (large webhook bodies): body that arrives → its bytes so far
//   life: while it arrives
//   bound: 64; of more the slowest is ended
//   freshness: the end of the body
//   replicas: each counts
/** `most` bodies at once; `now` in milliseconds. */
export function createLargeBodies({ most, now = Date.now }: { readonly most: number; readonly now?: () => number }): LargeBodies {
  const arriving = new Set<Arriving>()
  const endSlowest = (): void => {
    const time = now()
    let slowest: Arriving | undefined
    for (const one of arriving) if (slowest === undefined || speed(one, time) < speed(slowest, time)) slowest = one
    if (slowest === undefined) return
    arriving.delete(slowest)
    slowest.body.destroy(new AppError('unavailable', 'too many large bodies at once', { retryAfterSeconds: 5 }))
  }
  return {
    async *admit(body) {
      const one: Arriving = { body, since: now(), bytes: 0 }
      arriving.add(one)
      if (arriving.size > most) endSlowest()
      try {
        // Destroying the stream when this ends early would close the connection before the answer is sent.
        for await (const chunk of body.iterator({ destroyOnReturn: false })) {
          one.bytes += chunk.length
          yield chunk
        }
      } finally {
        arriving.delete(one)
      }
    },
    count: () => arriving.size,
  }
}
