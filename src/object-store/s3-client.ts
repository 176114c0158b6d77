// A client of a store of objects by AWS's wire, for whoever has a key of it. Every request has a time limit, and is repeated
// once. Nothing is read from the environment or from files of AWS. No error ever contains a key.
import { Agent as PlainAgent } from 'node:http'
import { Agent } from 'node:https'
import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3'
import type { SecretString } from '../lib/secret-string.ts'

export type StoreKey = { readonly accessKeyId: string; readonly secretAccessKey: SecretString }

/** Connections that clients share. */
export type Sockets = {
  readonly requestHandler: NonNullable<S3ClientConfig['requestHandler']>
  /** Ends every connection. Idempotent. */
  readonly close: () => void
}

export type SocketOptions = {
  /** Authorities in PEM; undefined: those that the system trusts. */
  readonly ca?: string | undefined
  /** How long an answer may take. */
  readonly answerMilliseconds?: number
}

const connectMilliseconds = 5_000
const usualAnswerMilliseconds = 15_000
const attempts = 2
const maxSockets = 8

/** Opens none before the first request. */
export function openSockets({ ca, answerMilliseconds = usualAnswerMilliseconds }: SocketOptions): Sockets {
  const options = { keepAlive: true, maxSockets }
  const httpAgent = new PlainAgent(options)
  const httpsAgent = new Agent({ ...options, ...(ca !== undefined && { ca }) })
  return {
    requestHandler: {
      httpAgent,
      httpsAgent,
      connectionTimeout: connectMilliseconds,
      requestTimeout: answerMilliseconds,
      socketTimeout: answerMilliseconds,
      throwOnRequestTimeout: true,
    },
    close() {
      httpAgent.destroy()
      httpsAgent.destroy()
    },
  }
}

/** What clients of all services of AWS have in common. */
export function clientSettings(key: StoreKey, { requestHandler }: Sockets) {
  return {
    credentials: { accessKeyId: key.accessKeyId, secretAccessKey: key.secretAccessKey.reveal() },
    maxAttempts: attempts,
    retryMode: 'standard',
    defaultsMode: 'standard',
    useDualstackEndpoint: false,
    useFipsEndpoint: false,
    requestHandler,
  } as const
}

export function openS3(at: { readonly endpoint: URL; readonly region: string }, key: StoreKey, sockets: Sockets): S3Client {
  return new S3Client({
    ...clientSettings(key, sockets),
    endpoint: at.endpoint.href,
    region: at.region,
    forcePathStyle: true,
    // Stores other than AWS's do not know its newer checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    disableS3ExpressSessionAuth: true,
  })
}
