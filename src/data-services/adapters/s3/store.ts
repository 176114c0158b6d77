// Connections to a store of buckets by AWS's wire: S3 and IAM, as its administrator and as one key. Every request has a time
// limit, and is repeated once. Nothing is read from the environment or from files of AWS. No error ever contains a key.
import { IAMClient } from '@aws-sdk/client-iam'
import type { S3Client } from '@aws-sdk/client-s3'
import { createKeyedMutex, type KeyedMutex } from '../../../lib/limits/keyed-mutex.ts'
import { clientSettings, openS3, openSockets, type Sockets, type StoreKey } from '../../../object-store/s3-client.ts'
import { storeError } from '../../../object-store/store-error.ts'

export type { StoreKey } from '../../../object-store/s3-client.ts'

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

/** AWS's own IAM is one for all regions, and takes signatures of this one. */
const globalIam = { host: 'iam.amazonaws.com', region: 'us-east-1' }

// Memory (turns at buckets and users of a store): name → the work that waits
//   life: until the work has ended
//   bound: what the controllers of services do at once
//   freshness: none is needed: it says nothing of the store
//   replicas: leader only
/** Connects when first used. */
export function connectStore(address: StoreAddress, administrator: StoreKey): Store {
  const sockets = openSockets(address)
  const open = (key: StoreKey): Session => sessionOf(address, key, sockets)
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
    close: sockets.close,
  }
}

function sessionOf({ endpoint, iamEndpoint, region }: StoreAddress, key: StoreKey, sockets: Sockets): Session {
  return {
    s3: openS3({ endpoint, region }, key, sockets),
    iam: new IAMClient({
      ...clientSettings(key, sockets),
      endpoint: iamEndpoint.href,
      region: iamEndpoint.host === globalIam.host ? globalIam.region : region,
    }),
  }
}
