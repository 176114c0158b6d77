// What `sekisho login` got, per issuer and client: the ID token while it lives and the refresh token. One file, readable by the person alone.
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { CliSettings } from '../config.ts'
import { readJsonFile, removeFile, writePrivateFile } from './private-file.ts'

export type CachedTokens = {
  readonly issuer: string
  readonly clientId: string
  readonly idToken: string
  /** Seconds since 1970. */
  readonly expiresAt: number
  readonly refreshToken: string | undefined
}

type Place = Pick<CliSettings, 'issuer' | 'clientId' | 'folders'>

function isCachedTokens(value: unknown): value is CachedTokens {
  if (typeof value !== 'object' || value === null) return false
  const { issuer, clientId, idToken, expiresAt } = value as Record<string, unknown>
  return [issuer, clientId, idToken].every(field => typeof field === 'string') && typeof expiresAt === 'number'
}

export function tokenFile({ issuer, clientId, folders }: Place): string {
  const key = createHash('sha256')
    .update(JSON.stringify([issuer, clientId]))
    .digest('hex')
    .slice(0, 32)
  return join(folders.tokens, `${key}.json`)
}

export async function readTokens(place: Place): Promise<CachedTokens | undefined> {
  const found = await readJsonFile(tokenFile(place), isCachedTokens)
  return found?.issuer === place.issuer && found.clientId === place.clientId ? found : undefined
}

export function writeTokens(place: Place, tokens: CachedTokens): Promise<void> {
  return writePrivateFile(tokenFile(place), `${JSON.stringify(tokens)}\n`)
}

export function removeTokens(place: Place): Promise<void> {
  return removeFile(tokenFile(place))
}
