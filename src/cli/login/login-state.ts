// What a login on this computer is made of: where its tokens are, when they are good, and the lock under which they change.
import type { Clock } from '../../lib/clock.ts'
import type { CliSettings } from '../config.ts'
import type { Connection } from '../connection.ts'
import { withLockFile } from '../files/lock-file.ts'
import { type CachedTokens, tokenFile } from '../files/token-cache.ts'

export type SessionDeps = {
  readonly settings: CliSettings
  /** Opened when it is needed first. */
  readonly connection: () => Promise<Connection>
  readonly clock: Clock
  readonly say: (text: string) => void
}

const leastLifeSeconds = 60

/** Seconds. */
export function lifeLeft(tokens: CachedTokens, clock: Clock): number {
  return tokens.expiresAt - clock.now().getTime() / 1000
}

export function isGood(tokens: CachedTokens, clock: Clock): boolean {
  return lifeLeft(tokens, clock) > leastLifeSeconds
}

/** All changes to the cached tokens happen under this lock, after another look at the file: a refresh token works once. */
export function underLock<T>(deps: SessionDeps, waitMilliseconds: number, work: () => Promise<T>): Promise<T> {
  const { clock, say } = deps
  const onWaiting = (): void => say('another sekisho is signing in; waiting for it …')
  return withLockFile(`${tokenFile(deps.settings)}.lock`, { clock, waitMilliseconds, onWaiting }, work)
}
