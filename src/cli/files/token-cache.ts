// The tokens of `sekisho login` per issuer and client: the ID token and the refresh token, in one file that only the user may
// read.
import { join } from 'node:path'
import { isJsonObject } from '../../lib/json/json-value.ts'
import { shortHash } from '../../lib/text/bounded-name.ts'
import type { CliSettings } from '../config.ts'
import { readJsonFile, removeFile, writePrivateFile } from './private-file.ts'

export type CachedTokens = {
  readonly issuer: string
  readonly clientId: string
  readonly idToken: string
  /** When the ID token expires, in seconds since 1970. */
  readonly expiresAt: number
  readonly refreshToken: string | undefined
}

type Login = Pick<CliSettings, 'issuer' | 'clientId' | 'folders'>

function isCachedTokens(value: unknown): value is CachedTokens {
  if (!isJsonObject(value) || typeof value['expiresAt'] !== 'number') return false
  return ['issuer', 'clientId', 'idToken'].every(field => typeof value[field] === 'string')
}

/** The path of the token file. */
export function tokenFile({ issuer, clientId, folders }: Login): string {
  return join(folders.tokens, `${shortHash(JSON.stringify([issuer, clientId]), 32)}.json`)
}

/** Resolves to undefined without a login, and for a file that belongs to another issuer or client. */
export async function readTokens(login: Login): Promise<CachedTokens | undefined> {
  const found = await readJsonFile(tokenFile(login), isCachedTokens)
  return found?.issuer === login.issuer && found.clientId === login.clientId ? found : undefined
}

/** Replaces the login. */
export async function writeTokens(login: Login, tokens: CachedTokens): Promise<void> {
  await writePrivateFile(tokenFile(login), `${JSON.stringify(tokens)}\n`)
}

/** Forgets the login, if there is one. */
export async function removeTokens(login: Login): Promise<void> {
  await removeFile(tokenFile(login))
}
