// The shape of dev/cluster's command runner as images and kpack take it: an argument, so that tests can count and answer calls.
import type { runCommand } from '../cluster/run-command.ts'

export type RunCommand = typeof runCommand

/** For downloads and installations, which take as long as the network takes. */
export const longestFetchMilliseconds = 600_000
