// A log that writes nothing, for tests.
import type { Log } from '../log.ts'

/** Drops everything. */
export const silentLog: Log = { debug: () => {}, info: () => {}, error: () => {}, child: () => silentLog }
