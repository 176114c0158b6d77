// The ServiceClass `bucket` of the local cluster: a store of buckets on this host, the key of the platform on it, and its
// authority. The key is made once and kept in the Secret that data services read.
import { randomBytes } from 'node:crypto'
import { stringify } from 'yaml'
import type { Progress } from '../../cluster/progress.ts'
import type { ClusterSettings } from '../../cluster/settings.ts'
import { databaseAuthority } from '../../postgres/platform-server.ts'
import { storeRegion } from '../../versitygw/processes.ts'
import { ensureTenantsStore, tenantsStoreUrls } from '../../versitygw/tenants-store.ts'
import type { Kubectl } from '../kubectl.ts'
import { secretData } from '../secrets/secret.ts'

const namespace = 'sekisho-data'
const className = 'bucket'
const adminSecret = 'bucket-administrator'
const authoritySecret = 'bucket-authority'

/** Makes or completes all of it. */
export async function offerBuckets(kubectl: Kubectl, settings: ClusterSettings, progress: Progress): Promise<void> {
  const kept = await secretData(kubectl, adminSecret, namespace)
  const key = {
    accessKeyId: kept['accessKeyId'] ?? `sekisho${randomBytes(6).toString('hex')}`,
    secretAccessKey: kept['secretAccessKey'] ?? randomBytes(24).toString('hex'),
  }
  await ensureTenantsStore(settings, progress, key)
  const secret = (name: string, stringData: Readonly<Record<string, string>>): object => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace },
    type: 'Opaque',
    stringData,
  })
  const objects = [
    secret(adminSecret, key),
    secret(authoritySecret, { 'ca.crt': await databaseAuthority(settings) }),
    serviceClass(settings),
  ]
  await kubectl.applyText(objects.map(object => stringify(object)).join('---\n'))
  await kubectl.run(['wait', '--for=condition=Ready', `serviceclass/${className}`, '--timeout=60s'], 70_000)
}

function serviceClass(settings: ClusterSettings): object {
  const urls = tenantsStoreUrls(settings)
  return {
    apiVersion: 'services.sekisho.dev/v1alpha1',
    kind: 'ServiceClass',
    metadata: { name: className },
    spec: {
      type: 'bucket',
      description: 'A bucket in the store of this machine, which all tenants share.',
      provider: {
        s3: {
          endpoint: urls.s3,
          iamEndpoint: urls.iam,
          region: storeRegion,
          adminSecret: { name: adminSecret },
          caSecret: { name: authoritySecret },
        },
      },
      plans: [
        { name: 'small', default: true, limits: { storage: '1Gi' } },
        { name: 'large', limits: { storage: '10Gi' } },
      ],
      reach: { cidrs: [`${settings.nodeAddress}/32`] },
      credentials: { maxAgeDays: 30, overlapMinutes: 60 },
    },
  }
}
