// An object store that tenants share: each Bucket is a bucket of it.
import { s3Of } from '../../api/services/provider.ts'
import { connectStore } from '../adapters/s3/store.ts'
import { checkStore, removeProbe } from '../adapters/s3/store-check.ts'
import { type Provider, secretIn } from './provider.ts'

export const bucketProvider: Provider<'bucket'> = {
  accountKeys: ['accessKeyId', 'secretAccessKey'],
  secretsOf(serviceClass) {
    const { adminSecret, caSecret } = s3Of(serviceClass)
    return { account: adminSecret.name, authority: caSecret?.name }
  },
  connect(serviceClass, { account, ca }) {
    const { endpoint, iamEndpoint, region } = s3Of(serviceClass)
    // The platform's own bucket is of this class, whatever others use the store.
    const id = serviceClass.metadata.uid ?? ''
    const address = { id, endpoint: new URL(endpoint), iamEndpoint: new URL(iamEndpoint), region, ca }
    const administrator = {
      accessKeyId: secretIn(account, 'accessKeyId').reveal(),
      secretAccessKey: secretIn(account, 'secretAccessKey'),
    }
    return { type: 'bucket', store: connectStore(address, administrator), endpoint, region, ca }
  },
  check: async ({ store }) => ({ type: 'bucket', ...(await checkStore(store)) }),
  leave: ({ store }) => removeProbe(store),
  async close({ store }) {
    store.close()
  },
}
