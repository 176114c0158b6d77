// The unguessable address of one source. Pure. The secret part is derived, never stored: HMAC-SHA-256 of the build under the platform's key,
// so that a restarted process gives the same URL again; on disk stands only its SHA-256, which opens nothing.
import { createHash, createHmac } from 'node:crypto'
import type { SecretString } from '../../lib/secret-string.ts'

/** What a source belongs to: a build (its namespace and name) and the one commit it may contain. */
export type SourceIdentity = { readonly namespace: string; readonly build: string; readonly commit: string }

const secretPattern = /^\/([A-Za-z0-9_-]{43})\/source\.git\/(info\/refs|git-upload-pack)$/

/** 256 bits in base64url: 43 characters. */
export function sourceSecret(key: SecretString, identity: SourceIdentity): string {
  const text = ['sekisho source v1', identity.namespace, identity.build, identity.commit].join('\n')
  return createHmac('sha256', key.reveal()).update(text).digest('base64url')
}

/** Names the folder of a source. Looking up by it takes the same time for every guess: nothing of the secret is compared byte by byte. */
export function sourceFingerprint(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}

export function sourceUrl(base: URL, secret: string): string {
  return new URL(`/${secret}/source.git`, base).href
}

export type SourcePath = { readonly secret: string; readonly service: 'info/refs' | 'git-upload-pack' }

/** Reads a request path; undefined for everything that is no source. */
export function parseSourcePath(path: string): SourcePath | undefined {
  const [, secret, service] = secretPattern.exec(path) ?? []
  if (secret === undefined) return undefined
  return { secret, service: service === 'info/refs' ? 'info/refs' : 'git-upload-pack' }
}
