// Connections to a store of buckets by AWS's wire: S3 and IAM, as its administrator and as one key. Every request has a time
// limit, and is repeated once. Nothing is read from the environment or from files of AWS. No error ever contains a key.
import { Agent as PlainAgent } from 'node:http'
import { Agent } from 'node:https'
import { IAMClient } from '@aws-sdk/client-iam'
import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3'
import { createKeyedMutex, type KeyedMutex } from '../../../lib/limits/keyed-mutex.ts'
import type { SecretString } from '../../../lib/secret-string.ts'
import { storeError } from './store-error.ts'

export type StoreKey = { readonly accessKeyId: string; readonly secretAccessKey: SecretString }
export type StoreAddress = {
  /** What tells this store's own bucket of the platform from those of others: the uid of the class. */
  readonly id: string
  readonly endpoint: URL
  readonly iamEndpoint: URL
  readonly region: string
  /** Authorities in PEM; undefined: those that the system trusts. */
  readonly ca?: string | undefined
  /** How long an answer may take. */
  readonly answerMilliseconds?: number
}

/** The clients of AWS's SDK. Nothing outside of this folder has one. */
export type Session = { readonly s3: S3Client; readonly iam: IAMClient }

export type Store = {
  readonly address: StoreAddress
  /** Rejects with a StoreError, or what else `work` does. */
  readonly asAdministrator: <T>(work: (session: Session) => Promise<T>) => Promise<T>
  /** Rejects with what the client of AWS throws. */
  readonly asKey: <T>(key: StoreKey, work: (session: Session) => Promise<T>) => Promise<T>
  /** What is done to one bucket, or to one user, one after the other. */
  readonly turns: KeyedMutex
  /** Ends every connection. Idempotent. */
  readonly close: () => void
}

const connectMilliseconds = 5_000
const usualAnswerMilliseconds = 15_000
const attempts = 2
const sockets = 8
/** AWS's own IAM is one for all regions, and takes signatures of this one. */
const globalIam = { host: 'iam.amazonaws.com', region: 'us-east-1' }

// Memory (turns at buckets and users of a store): name → the work that waits
//   life: until the work has ended
//   bound: what the controllers of services do at once
//   freshness: none is needed: it says nothing of the store
//   replicas: leader only
/** Connects when first used. */
export function connectStore(address: StoreAddress, administrator: StoreKey): Store {
  const { ca, answerMilliseconds = usualAnswerMilliseconds } = address
  const options = { keepAlive: true, maxSockets: sockets }
  const httpAgent = new PlainAgent(options)
  const httpsAgent = new Agent({ ...options, ...(ca !== undefined && { ca }) })
  const requestHandler = {
    httpAgent,
    httpsAgent,
    connectionTimeout: connectMilliseconds,
    requestTimeout: answerMilliseconds,
    socketTimeout: answerMilliseconds,
    throwOnRequestTimeout: true,
  }
  const open = (key: StoreKey): Session => sessionOf(address, key, requestHandler)
  const administration = open(administrator)
  return {
    address,
    async asAdministrator(work) {
      try {
        return await work(administration)
      } catch (error) {
        throw storeError(error)
      }
    },
    asKey: (key, work) => work(open(key)),
    turns: createKeyedMutex(),
    close() {
      httpAgent.destroy()
      httpsAgent.destroy()
    },
  }
}

type Handler = NonNullable<S3ClientConfig['requestHandler']>

function sessionOf(address: StoreAddress, key: StoreKey, requestHandler: Handler): Session {
  const { endpoint, iamEndpoint, region } = address
  const settings = {
    credentials: { accessKeyId: key.accessKeyId, secretAccessKey: key.secretAccessKey.reveal() },
    maxAttempts: attempts,
    retryMode: 'standard',
    defaultsMode: 'standard',
    useDualstackEndpoint: false,
    useFipsEndpoint: false,
    requestHandler,
  } as const
  return {
    s3: new S3Client({
      ...settings,
      endpoint: endpoint.href,
      region,
      forcePathStyle: true,
      // Stores other than AWS's do not know its newer checksums.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      disableS3ExpressSessionAuth: true,
    }),
    iam: new IAMClient({
      ...settings,
      endpoint: iamEndpoint.href,
      region: iamEndpoint.host === globalIam.host ? globalIam.region : region,
    }),
  }
}
