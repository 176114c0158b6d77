// A Builder that records what a build pushes before it is deleted. The recording is for the deletion of unused images only: a
// build whose approval was withdrawn ends, and a RemoteSync goes, also while the database does not answer.
import { messageOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { Builder, BuildKey } from './builder.ts'

/** `recordPushes` may reject. */
export function recordingBuilder(builder: Builder, recordPushes: (key: BuildKey) => Promise<void>, log: Log): Builder {
  return {
    ...builder,
    async cancel(key) {
      await recordPushes(key).catch((error: unknown) => {
        log.error(
          { build: key.name, reason: messageOf(error) },
          'what a build pushed cannot be recorded: it is deleted all the same',
        )
      })
      await builder.cancel(key)
    },
  }
}
