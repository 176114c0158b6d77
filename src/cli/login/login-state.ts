// The state of a login on this computer: its token file, whether its tokens are valid, and the lock for changing them.
import type { Clock } from '../../lib/clock.ts'
import type { CliSettings } from '../config.ts'
import type { Connection } from '../connection.ts'
import { withLockFile } from '../files/lock-file.ts'
import { type CachedTokens, tokenFile } from '../files/token-cache.ts'

export type SessionDeps = {
  readonly settings: CliSettings
  /** Opened on first use. */
  readonly connection: () => Promise<Connection>
  readonly clock: Clock
  readonly say: (text: string) => void
}

const leastLifeSeconds = 60

/** The remaining lifetime of the ID token in seconds. */
export function lifeLeft(tokens: CachedTokens, clock: Clock): number {
  return tokens.expiresAt - clock.now().getTime() / 1000
}

/** Whether the ID token is valid for at least another minute. */
export function isGood(tokens: CachedTokens, clock: Clock): boolean {
  return lifeLeft(tokens, clock) > leastLifeSeconds
}

/** Every change of the token file happens under this lock, after the file was read again: a refresh token works only once. */
export function underLock<T>(deps: SessionDeps, waitMilliseconds: number, work: () => Promise<T>): Promise<T> {
  const { clock, say } = deps
  const onWaiting = (): void => say('another sekisho process is signing in; waiting for it …')
  return withLockFile(`${tokenFile(deps.settings)}.lock`, { clock, waitMilliseconds, onWaiting }, work)
}
