// The five requests of the distribution API that a push needs (OCI distribution spec, "Push"), over plain HTTP to a registry of the
// development cluster, with a token where that asks for one. It knows nothing about images.
import { createReadStream } from 'node:fs'
import type { Readable } from 'node:stream'
import { request } from 'undici'
import { AppError } from '../../../src/lib/errors.ts'
import type { Digest } from '../blobs/blob-store.ts'
import type { PushTokens } from './push-token.ts'

export type RegistryClient = {
  /** The digest of a tag; undefined when there is none. */
  readonly manifestDigest: (repository: string, tag: string, mediaType: string) => Promise<string | undefined>
  readonly hasBlob: (repository: string, digest: Digest) => Promise<boolean>
  /** Mounts a blob of another repository of the registry; false when the registry wants an upload instead. */
  readonly mountBlob: (repository: string, digest: Digest, from: string) => Promise<boolean>
  readonly uploadBlob: (repository: string, digest: Digest, file: string, size: number) => Promise<void>
  readonly putManifest: (repository: string, tag: string, mediaType: string, manifest: Uint8Array) => Promise<void>
}

/** `address` is host and port without a scheme; `tokens` is absent for a registry that asks for none. Its functions throw `unavailable` when the registry does not answer. */
export function createRegistryClient(address: string, tokens?: PushTokens): RegistryClient {
  const base = new URL(`http://${address}/`)
  const call = async (
    method: 'HEAD' | 'POST' | 'PUT',
    path: string | URL,
    options: { repository: string; from?: string; body?: Uint8Array | Readable; headers?: Record<string, string> },
  ) => {
    const url = new URL(path, base)
    const { repository, from } = options
    const token = await tokens?.([
      { name: repository, actions: ['pull', 'push'] },
      ...(from === undefined ? [] : [{ name: from, actions: ['pull'] }]),
    ])
    const answer = await request(url, {
      method,
      headers: { ...options.headers, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
      body: options.body ?? null,
    }).catch((cause: unknown) => {
      throw new AppError('unavailable', `the registry ${address} does not answer: start the cluster (make up) first`, { cause })
    })
    await answer.body.dump()
    return answer
  }
  const refused = (what: string, status: number): AppError =>
    new AppError('upstream_failed', `the registry ${address} answered ${status} to ${what}`)
  const locationOf = (answer: Awaited<ReturnType<typeof call>>): URL => {
    const location = answer.headers['location']
    if (typeof location !== 'string')
      throw new AppError('upstream_failed', `the registry ${address} started an upload without a location`)
    return new URL(location, base)
  }
  return {
    async manifestDigest(repository, tag, mediaType) {
      const answer = await call('HEAD', `v2/${repository}/manifests/${tag}`, { repository, headers: { accept: mediaType } })
      const digest = answer.headers['docker-content-digest']
      return answer.statusCode === 200 && typeof digest === 'string' ? digest : undefined
    },
    async hasBlob(repository, digest) {
      return (await call('HEAD', `v2/${repository}/blobs/${digest}`, { repository })).statusCode === 200
    },
    async mountBlob(repository, digest, from) {
      const path = `v2/${repository}/blobs/uploads/?mount=${digest}&from=${encodeURIComponent(from)}`
      return (await call('POST', path, { repository, from })).statusCode === 201
    },
    async uploadBlob(repository, digest, file, size) {
      const begun = await call('POST', `v2/${repository}/blobs/uploads/`, { repository })
      if (begun.statusCode !== 202) throw refused(`an upload to ${repository}`, begun.statusCode)
      const target = locationOf(begun)
      target.searchParams.set('digest', digest)
      const headers = { 'content-type': 'application/octet-stream', 'content-length': String(size) }
      const done = await call('PUT', target, { repository, headers, body: createReadStream(file) })
      if (done.statusCode !== 201) throw refused(`blob ${digest} of ${repository}`, done.statusCode)
    },
    async putManifest(repository, tag, mediaType, manifest) {
      const answer = await call('PUT', `v2/${repository}/manifests/${tag}`, {
        repository,
        headers: { 'content-type': mediaType },
        body: manifest,
      })
      if (answer.statusCode !== 201) throw refused(`the manifest of ${repository}:${tag}`, answer.statusCode)
    },
  }
}
