// A store of buckets that tenants share, of one environment alone: everything in it is what the process under test made.
// Each request by which that changes the store is a write; what a test asks passes no proxy.
import { GetUserPolicyCommand, ListAccessKeysCommand, ListUserPoliciesCommand, ListUsersCommand } from '@aws-sdk/client-iam'
import {
  GetBucketTaggingCommand,
  GetBucketVersioningCommand,
  GetObjectCommand,
  ListBucketsCommand,
  ListObjectVersionsCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3'
import { startVersitygw } from '../../../dev/versitygw/start-versitygw.ts'
import { connectStore, type Session, type StoreKey } from '../../../src/data-services/adapters/s3/store.ts'
import { startChaosProxy } from '../../proxies/chaos-proxy/chaos-proxy.ts'
import { signedUpstream } from '../../proxies/chaos-proxy/upstream.ts'
import type { CrashSwitch } from '../../proxies/crash-switch.ts'
import { plainServerNames, storeWrite } from '../../proxies/named-writes.ts'

export type TenantsStore = {
  /** By which the process under test reaches it, as its administrator. */
  readonly s3: { readonly endpoint: string; readonly iamEndpoint: string }
  readonly account: { readonly accessKeyId: string; readonly secretAccessKey: string }
  readonly put: (key: StoreKey, bucket: string, name: string, text: string) => Promise<unknown>
  readonly read: (key: StoreKey, bucket: string, name: string) => Promise<string | undefined>
  /** All buckets with their objects, and all users with what they may; sorted, without hashes. */
  readonly contents: () => Promise<readonly string[]>
  readonly cut: () => void
  readonly close: () => Promise<void>
}

async function bucketLines({ s3 }: Session): Promise<readonly string[]> {
  const { Buckets = [] } = await s3.send(new ListBucketsCommand({}))
  const lines = Buckets.map(async ({ Name: Bucket }) => {
    const { TagSet = [] } = await s3.send(new GetBucketTaggingCommand({ Bucket }))
    const { Status } = await s3.send(new GetBucketVersioningCommand({ Bucket }))
    const { Versions = [], DeleteMarkers = [] } = await s3.send(new ListObjectVersionsCommand({ Bucket }))
    const objects = [...Versions, ...DeleteMarkers].map(({ Key }) => Key).join(' ')
    return `bucket ${Bucket} of ${TagSet.map(({ Value }) => Value).join(' ')}, versions ${Status}: ${objects}`
  })
  return Promise.all(lines)
}

async function userLines({ iam }: Session): Promise<readonly string[]> {
  const { Users = [] } = await iam.send(new ListUsersCommand({}))
  const lines = Users.map(async ({ UserName }) => {
    const { PolicyNames = [] } = await iam.send(new ListUserPoliciesCommand({ UserName }))
    const documents = await Promise.all(
      PolicyNames.map(async PolicyName => (await iam.send(new GetUserPolicyCommand({ UserName, PolicyName }))).PolicyDocument),
    )
    const { AccessKeyMetadata = [] } = await iam.send(new ListAccessKeysCommand({ UserName }))
    const may = documents.map(text => decodeURIComponent(text ?? '')).join(' ')
    return `user ${UserName}: ${AccessKeyMetadata.length} keys, ${may}`
  })
  return Promise.all(lines)
}

/** `crash` judges what passes from the process under test. */
export async function startTenantsStore(crash: CrashSwitch): Promise<TenantsStore> {
  const program = await startVersitygw()
  const { endpoint, iamEndpoint, region, key } = program
  const store = connectStore({ id: 'test', endpoint, iamEndpoint, region }, key)
  const proxies = await Promise.all(
    [endpoint, iamEndpoint].map(url => startChaosProxy(signedUpstream(url.origin), { crash, writeOf: storeWrite })),
  )
  const [s3, iam] = proxies.map(({ url }) => url)
  return {
    s3: { endpoint: s3 ?? '', iamEndpoint: iam ?? '' },
    account: { accessKeyId: key.accessKeyId, secretAccessKey: key.secretAccessKey.reveal() },
    put: (by, Bucket, Key, Body) => store.asKey(by, session => session.s3.send(new PutObjectCommand({ Bucket, Key, Body }))),
    read: (by, Bucket, Key) =>
      store.asKey(by, async session => {
        const { Body } = await session.s3.send(new GetObjectCommand({ Bucket, Key }))
        return Body?.transformToString()
      }),
    contents: () =>
      store.asAdministrator(async session =>
        [...(await bucketLines(session)), ...(await userLines(session))].map(plainServerNames).sort(),
      ),
    cut() {
      for (const proxy of proxies) proxy.cut()
    },
    async close() {
      store.close()
      await Promise.all(proxies.map(proxy => proxy.close()))
      await program.stop()
    },
  }
}
