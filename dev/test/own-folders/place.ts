// The folder of a file of tests below the folder of its run.
import { createHash } from 'node:crypto'

/** `file`: its path in the repository. Short, because sockets are made below it, whose paths may have 107 bytes. */
export function placeOf(file: string): string {
  return createHash('sha256').update(file).digest('hex').slice(0, 6)
}

/** In the folder of a run: a line for the begin and one for the end of each file of tests, with its path and the time. */
export const fileTimes = '.file-times'
