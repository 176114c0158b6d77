// Waiting in the attack tests, with one time limit for all: policies take up to a second to be in force, a webhook a few seconds.
import { waitUntil } from '../../dev/cluster/wait-until.ts'

export function eventually<T>(what: string, check: () => Promise<T | undefined>): Promise<T> {
  return waitUntil(what, check, { timeoutMilliseconds: 60_000 })
}
