// The unguessable address of one source. Pure. The secret part is derived, never stored: HMAC-SHA-256 of the build under the
// platform's key, so that a restarted process derives the same URL. Only its SHA-256 is on disk, from which the address cannot
// be derived.
import { createHash, createHmac } from 'node:crypto'
import type { SecretString } from '../../../lib/secret-string.ts'

/** Identifies a source: a build (its namespace and name) and the one commit that it may contain. */
export type SourceIdentity = { readonly namespace: string; readonly build: string; readonly commit: string }

const secretPattern = /^\/([A-Za-z0-9_-]{43})\/source\.git\/(info\/refs|git-upload-pack)$/

/** 256 bits in base64url: 43 characters. */
export function sourceSecret(key: SecretString, identity: SourceIdentity): string {
  const text = ['sekisho source v1', identity.namespace, identity.build, identity.commit].join('\n')
  return createHmac('sha256', key.reveal()).update(text).digest('base64url')
}

/**
 * Names the folder of a source. A lookup by hash takes the same time for every guess: the secret is never compared byte by
 * byte.
 */
export function sourceFingerprint(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}

/** The URL that a builder clones. */
export function sourceUrl(base: URL, secret: string): string {
  return new URL(`/${secret}/source.git`, base).href
}

export type SourcePath = { readonly secret: string; readonly service: 'info/refs' | 'git-upload-pack' }

/** Parses a request path; undefined for everything that does not name a source and one of git's two services. */
export function parseSourcePath(path: string): SourcePath | undefined {
  const [, secret, service] = secretPattern.exec(path) ?? []
  if (secret === undefined) return undefined
  return { secret, service: service === 'info/refs' ? 'info/refs' : 'git-upload-pack' }
}
