// Small objects in one bucket that are written once: looked at first, and then written under the condition that there is none
// of that name. An object that is there is never written again, whatever it contains.
import { GetObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import { openS3, openSockets, type SocketOptions, type StoreKey } from './s3-client.ts'
import { codeOf, isNotImplemented, statusOf, storeError } from './store-error.ts'

export type Bucket = SocketOptions & {
  readonly endpoint: URL
  readonly region: string
  readonly bucket: string
  readonly key: StoreKey
}

/** `written` by this call. `found`: it was there with this content. `different`: it was there with another one. */
export type KeptObject = 'written' | 'found' | 'different'

export type KeptObjects = {
  /** Rejects with a StoreError when the store does not answer, or refuses. */
  readonly keep: (name: string, text: string, signal: AbortSignal) => Promise<KeptObject>
  readonly close: () => void
}

const missing = 404
const contentType = 'application/json'
/** Somebody wrote it since it was looked for, or writes it now. */
const lost = new Set([409, 412])

/** Connects when first used. */
export function openKeptObjects({ bucket, key, ...at }: Bucket): KeptObjects {
  const sockets = openSockets(at)
  const s3 = openS3(at, key, sockets)
  return {
    async keep(name, text, signal) {
      const object: ObjectText = { at: { Bucket: bucket, Key: name }, text, signal }
      try {
        const found = (await compare(s3, object)) ?? (await writeFirst(s3, object))
        // For some stores one that was deleted, of which they keep a former version, is still there.
        return found === 'lost' ? ((await compare(s3, object)) ?? (await write(s3, object))) : found
      } catch (error) {
        throw storeError(error)
      }
    },
    close: sockets.close,
  }
}

type ObjectText = {
  readonly at: { readonly Bucket: string; readonly Key: string }
  readonly text: string
  readonly signal: AbortSignal
}

/** Undefined when there is none. Of an object of another length nothing is read: whoever wrote it chose how long it is. */
async function compare(s3: S3Client, { at, text, signal }: ObjectText): Promise<'found' | 'different' | undefined> {
  try {
    const { Body, ContentLength } = await s3.send(new GetObjectCommand(at), { abortSignal: signal })
    if (ContentLength !== Buffer.byteLength(text)) {
      if (Body !== undefined && 'destroy' in Body) Body.destroy()
      return 'different'
    }
    return (await Body?.transformToString()) === text ? 'found' : 'different'
  } catch (error) {
    if (statusOf(error) === missing && codeOf(error) !== 'NoSuchBucket') return undefined
    throw error
  }
}

/** `lost`: there is one now, the store says. A store that does not know the condition has only the look before. */
async function writeFirst(s3: S3Client, { at, text, signal }: ObjectText): Promise<'written' | 'lost'> {
  try {
    await s3.send(new PutObjectCommand({ ...at, Body: text, ContentType: contentType, IfNoneMatch: '*' }), {
      abortSignal: signal,
    })
    return 'written'
  } catch (error) {
    if (lost.has(statusOf(error) ?? 0)) return 'lost'
    if (isNotImplemented(error)) return write(s3, { at, text, signal })
    throw error
  }
}

async function write(s3: S3Client, { at, text, signal }: ObjectText): Promise<'written'> {
  await s3.send(new PutObjectCommand({ ...at, Body: text, ContentType: contentType }), { abortSignal: signal })
  return 'written'
}
