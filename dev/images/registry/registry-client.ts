// The five requests of the distribution API that a push needs (OCI distribution spec, "Push"), and the list of tags, to a
// registry of the development cluster or to one that the user gave, with a credential where it asks for one. It knows nothing
// about images.
import { createReadStream } from 'node:fs'
import type { Readable } from 'node:stream'
import { request } from 'undici'
import { AppError } from '../../../src/lib/errors.ts'
import { readAtMost } from '../../../src/lib/http/byte-stream.ts'
import { defined } from '../../../src/lib/json/defined.ts'
import { asObject, listAt, parseJson } from '../../../src/lib/json/json-value.ts'
import type { Digest } from '../blobs/blob-store.ts'

export type RegistryClient = {
  /** Empty for a repository that does not exist. Throws `upstream_failed` for a list that the registry cut, or that is none. */
  readonly tags: (repository: string) => Promise<readonly string[]>
  /** The digest of a tag; undefined when there is none. */
  readonly manifestDigest: (repository: string, tag: string, mediaType: string) => Promise<string | undefined>
  readonly hasBlob: (repository: string, digest: Digest) => Promise<boolean>
  /** Mounts a blob of another repository of the registry; false when the registry wants an upload instead. */
  readonly mountBlob: (repository: string, digest: Digest, from: string) => Promise<boolean>
  readonly uploadBlob: (repository: string, digest: Digest, file: string, size: number) => Promise<void>
  readonly putManifest: (repository: string, tag: string, mediaType: string, manifest: Uint8Array) => Promise<void>
}

export type Access = { readonly name: string; readonly actions: readonly string[] }
/** The value of the header `authorization` for the actions on the repositories; undefined for none. */
export type Authorize = (access: readonly Access[]) => Promise<string | undefined>

export type RegistryClientOptions = {
  /** Absent for a registry that asks for no credential. */
  readonly authorize?: Authorize
  readonly scheme?: 'http' | 'https'
  /** Before the name of every repository; ends with a slash. */
  readonly prefix?: string
}

/** More than the tags of a thousand builds. */
const maxListBytes = 1_048_576

/** `address` is host and port without a scheme. Its functions throw `unavailable` when the registry does not answer. */
export function createRegistryClient(address: string, options: RegistryClientOptions = {}): RegistryClient {
  const { authorize, scheme = 'http', prefix = '' } = options
  const base = new URL(`${scheme}://${address}/`)
  const at = (repository: string): string => `${prefix}${repository}`
  const send = async (
    method: 'GET' | 'HEAD' | 'POST' | 'PUT',
    path: string | URL,
    options: { repository: string; from?: string; body?: Uint8Array | Readable; headers?: Record<string, string> },
  ) => {
    const url = new URL(path, base)
    const { repository, from } = options
    const credential = await authorize?.([
      { name: at(repository), actions: method === 'GET' ? ['pull'] : ['pull', 'push'] },
      ...(from === undefined ? [] : [{ name: at(from), actions: ['pull'] }]),
    ])
    // An upload may be sent elsewhere (a Location of another origin); the credential is for this registry alone.
    const shown = url.origin === base.origin ? credential : undefined
    return request(url, {
      method,
      headers: { ...options.headers, ...defined({ authorization: shown }) },
      body: options.body ?? null,
    }).catch((cause: unknown) => {
      const cure = scheme === 'http' ? ': start the cluster (make up) first' : ''
      throw new AppError('unavailable', `the registry ${address} does not answer${cure}`, { cause })
    })
  }
  const call: typeof send = async (...sent) => {
    const answer = await send(...sent)
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
    async tags(repository) {
      const answer = await send('GET', `v2/${at(repository)}/tags/list`, { repository })
      const bytes = await readAtMost(maxListBytes, answer.body)
      if (answer.statusCode === 404) return []
      const what = `the list of the tags of ${repository}`
      if (answer.statusCode !== 200) throw refused(what, answer.statusCode)
      const list = bytes && asObject(parseJson(bytes.toString('utf8')))
      if (list?.['name'] !== at(repository) || answer.headers['link'] !== undefined)
        throw new AppError('upstream_failed', `the registry ${address} cut ${what}, or it is none`)
      return listAt(list, 'tags').filter(tag => typeof tag === 'string')
    },
    async manifestDigest(repository, tag, mediaType) {
      const answer = await call('HEAD', `v2/${at(repository)}/manifests/${tag}`, { repository, headers: { accept: mediaType } })
      const digest = answer.headers['docker-content-digest']
      return answer.statusCode === 200 && typeof digest === 'string' ? digest : undefined
    },
    async hasBlob(repository, digest) {
      return (await call('HEAD', `v2/${at(repository)}/blobs/${digest}`, { repository })).statusCode === 200
    },
    async mountBlob(repository, digest, from) {
      const path = `v2/${at(repository)}/blobs/uploads/?mount=${digest}&from=${encodeURIComponent(at(from))}`
      return (await call('POST', path, { repository, from })).statusCode === 201
    },
    async uploadBlob(repository, digest, file, size) {
      const begun = await call('POST', `v2/${at(repository)}/blobs/uploads/`, { repository })
      if (begun.statusCode !== 202) throw refused(`an upload to ${repository}`, begun.statusCode)
      const target = locationOf(begun)
      target.searchParams.set('digest', digest)
      const headers = { 'content-type': 'application/octet-stream', 'content-length': String(size) }
      const done = await call('PUT', target, { repository, headers, body: createReadStream(file) })
      if (done.statusCode !== 201) throw refused(`blob ${digest} of ${repository}`, done.statusCode)
    },
    async putManifest(repository, tag, mediaType, manifest) {
      const answer = await call('PUT', `v2/${at(repository)}/manifests/${tag}`, {
        repository,
        headers: { 'content-type': mediaType },
        body: manifest,
      })
      if (answer.statusCode !== 201) throw refused(`the manifest of ${repository}:${tag}`, answer.statusCode)
    },
  }
}
