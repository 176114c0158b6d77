// `/api/v1/keys`: by which keys the processes sealed what they store, for platform admins. Fingerprints and counts only, never
// a key or a value.
import { recordedTotals, type SealedTotals, totalsOf } from '../../../store/resealing/reseal-loop.ts'
import { sharedKeyProblem } from '../../../store/resealing/shared-key.ts'
import type { BrokerStore } from '../../../store/store.ts'
import type { WebServer } from '../../../web/server.ts'
import type { BrokerContext } from '../../context.ts'
import { perMinute } from '../limits.ts'
import { requirePlatformAdmin } from './bearer.ts'

/** What these routes need of the broker. */
export type KeysContext = Pick<BrokerContext, 'mode' | 'verifyIdToken' | 'platformAdmins' | 'clock'> & {
  readonly store: {
    readonly audit: Pick<BrokerStore['audit'], 'list'>
    readonly resealing: Pick<BrokerStore['resealing'], 'count'>
  }
}

/** `GET /api/v1/keys`. */
export function registerKeys(server: WebServer, context: KeysContext): void {
  const { mode, store, clock } = context
  server.get('/api/v1/keys', { config: perMinute(60) }, async request => {
    await requirePlatformAdmin(context, request)
    const counts = await store.resealing.count()
    const others = await recordedTotals(store.audit, 'controllers')
    const problem = others && mode !== 'standalone' ? sharedKeyProblem(counts.keys, others.keys) : undefined
    return {
      processes: [
        {
          ...described('broker', totalsOf(counts), clock.now()),
          columns: counts.columns.map(({ name, rows, unknownKey }) => ({ name, rows, unknownKey })),
        },
        ...(others === undefined ? [] : [described('controllers', others, others.at)]),
      ],
      problems: problem === undefined ? [] : [problem],
    }
  })
}

function described(process: string, { keys, rows, unknownKey }: SealedTotals, countedAt: Date) {
  return {
    process,
    countedAt: countedAt.toISOString(),
    keys: keys.map((fingerprint, index) => {
      return { fingerprint, use: index === 0 ? 'seals' : 'opens', rows: rows[index] ?? 0 }
    }),
    unknownKey,
  }
}
