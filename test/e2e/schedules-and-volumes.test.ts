// What an Application keeps and what it runs by a schedule, with the scheduler, the kubelet and the CronJob controller of the
// cluster: a volume outlives pods and the Application, also one that was written before the tenant had user ids of its own; a
// schedule runs with its log for the developer. The cluster makes no volumes by itself, so the test brings one of its own.
import { mkdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { readClusterSettings } from '../../dev/cluster/settings.ts'
import { limits } from '../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { applicationManifest } from './manifests.ts'
import { find, firstUserOfTenant, forgetObjects, list, read, untilGone, untilReason } from './objects.ts'
import { openPlatform, type Platform } from './platform.ts'
import { requestVersion } from './serving.ts'

const name = 'e2e-volumes'
const reference = `application/${name}`
const claim = `persistentvolumeclaim/${name}-data`
const url = `http://${name}.acme.localhost:8080`
const settings = readClusterSettings()
const folder = join(settings.stateFolder, 'e2e-volume')
const storageClass = '/apis/storage.k8s.io/v1/storageclasses/sekisho-e2e'
const volume = '/api/v1/persistentvolumes/sekisho-e2e'
/** Adds its release's colour to a file of the volume when it begins, and answers with all of them. */
const server = `
const { appendFileSync, readFileSync } = require('node:fs')
appendFileSync('/data/colours', process.env.COLOUR + '\\n')
const server = require('node:http').createServer((_, answer) => answer.end(readFileSync('/data/colours', 'utf8'))).listen(process.env.PORT)
process.on('SIGTERM', () => server.close(() => process.exit(0)))`
const web = { name: 'web', port: 3000, memory: '64Mi', command: ['node', '-e', server] }
const data = { name: 'data', size: '16Mi', storageClass: 'sekisho-e2e', path: '/data' }

let platform: Platform
let image = ''

const dave = (args: readonly string[]) => platform.kubectl('dave', [...args, '-n', 'acme'])

/** A volume that was bound once is never bound again: each claim needs it as new. Its files stay. */
async function offerVolume(): Promise<void> {
  await platform.admin.request('DELETE', volume)
  await waitUntil('the earlier volume is gone', async () => (await platform.admin.request('GET', volume)).status === 404, {
    timeoutMilliseconds: limits.rollout,
  })
  const [provisioner, volumeBindingMode] = ['kubernetes.io/no-provisioner', 'WaitForFirstConsumer']
  const labels = { name: 'sekisho-e2e' }
  const className = { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: labels, provisioner, volumeBindingMode }
  await platform.admin.apply(storageClass, className)
  const terms = [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [settings.nodeName] }] }]
  await platform.admin.apply(volume, {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: labels,
    spec: {
      capacity: { storage: '16Mi' },
      accessModes: ['ReadWriteOnce'],
      persistentVolumeReclaimPolicy: 'Retain',
      storageClassName: 'sekisho-e2e',
      local: { path: folder },
      nodeAffinity: { required: { nodeSelectorTerms: terms } },
    },
  })
}

/** Runs each minute, from the beginning of the file: the last test looks at it. */
const scheduled = 'e2e-schedule'
const former = 'e2e-former-user'
const formerObjects = [`pod/${former}`, `persistentvolumeclaim/${former}`, `secret/${former}`]

async function removeFormer(): Promise<void> {
  await forgetObjects(platform.admin, formerObjects, 'default')
  await untilGone(platform.admin, formerObjects, 'default')
}

async function remove(): Promise<void> {
  await platform.remove([reference])
  await platform.remove([claim])
  await removeFormer()
}

beforeAll(async () => {
  platform = await openPlatform(['dave'])
  image = String((await read(platform.admin, 'application/shop')).status?.['image'])
  await platform.remove([`application/${scheduled}`])
  const nightly = {
    name: 'nightly',
    schedule: '* * * * *',
    command: ['node', '-e', "console.log('swept at ' + new Date().toISOString())"],
  }
  await platform.apply('dave', [applicationManifest(scheduled, { image, processes: [{ ...web, replicas: 0 }], cron: [nightly] })])
})

beforeEach(async () => {
  await remove()
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  await offerVolume()
})

afterAll(async () => {
  await remove()
  await platform.remove([`application/${scheduled}`])
  await platform.admin.request('DELETE', volume)
  await platform.admin.request('DELETE', storageClass)
  await platform.admin.close()
  await rm(folder, { recursive: true, force: true })
})

async function deploy(colour: string, spec: object = {}): Promise<void> {
  const env = [{ name: 'COLOUR', value: colour }]
  await platform.apply('dave', [applicationManifest(name, { image, env, processes: [web], volumes: [data], ...spec })])
}

async function answers(text: string): Promise<void> {
  await waitUntil(
    `${url} answers ${JSON.stringify(text)}`,
    async () => {
      const answer = await requestVersion(url, '/')
      if (answer.status !== 200 || answer.text !== text) throw new Error(`${answer.status} ${answer.text}`)
      return true
    },
    { timeoutMilliseconds: limits.rollout },
  )
}

test('what a process writes to its volume outlives its pods and its Application, and goes when it is to be deleted', async () => {
  await deploy('red')
  await answers('red\n')
  await deploy('green')
  await answers('red\ngreen\n')
  expect(await dave(['delete', reference])).toMatchObject({ code: 0 })
  await waitUntil('the Application is gone', async () => (await find(platform.admin, reference)) === undefined, {
    timeoutMilliseconds: limits.rollout,
  })
  expect((await read(platform.admin, claim)).metadata.deletionTimestamp).toBeUndefined()
  await deploy('blue')
  await answers('red\ngreen\nblue\n')
  await deploy('blue', { volumes: [{ ...data, whenDeleted: 'Delete' }] })
  await untilReason(platform.admin, reference, 'Available')
  expect(await dave(['delete', reference])).toMatchObject({ code: 0 })
  await waitUntil('the claim is gone', async () => (await find(platform.admin, claim)) === undefined, {
    timeoutMilliseconds: limits.rollout,
  })
})

/**
 * Writes to the volume as the pods of tenants did before tenants had user ids of their own: as 1001 with the group 1000, which
 * the kubelet gave the volume to. No tenant's namespace takes such a pod.
 */
async function writeAsFormerUser(): Promise<void> {
  const pull: object = await read(platform.admin, 'secret/sekisho-registry-pull')
  const { data: content, type } = pull as { readonly data: object; readonly type: string }
  const inDefault = { name: former, namespace: 'default' }
  const api = '/api/v1/namespaces/default'
  await platform.admin.call('POST', `${api}/secrets`, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: inDefault,
    type,
    data: content,
  })
  await platform.admin.call('POST', `${api}/persistentvolumeclaims`, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: inDefault,
    spec: { storageClassName: 'sekisho-e2e', accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '16Mi' } } },
  })
  const script = 'umask 077 && echo former >/data/colours && mkdir /data/folder && touch /data/folder/file'
  await platform.admin.call('POST', `${api}/pods`, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: inDefault,
    spec: {
      restartPolicy: 'Never',
      automountServiceAccountToken: false,
      imagePullSecrets: [{ name: former }],
      securityContext: { runAsUser: 1001, fsGroup: 1000, fsGroupChangePolicy: 'OnRootMismatch' },
      containers: [{ name: 'main', image, command: ['sh', '-c', script], volumeMounts: [{ name: 'data', mountPath: '/data' }] }],
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: former } }],
    },
  })
  await waitUntil(
    'the former user has written',
    async () => {
      const { status } = await read(platform.admin, `pod/${former}`, 'default')
      if (status?.['phase'] === 'Succeeded') return true
      throw new Error(JSON.stringify(status))
    },
    { timeoutMilliseconds: limits.rollout },
  )
  await removeFormer()
}

/** As the node sees them: owner, group, and what the group may do. */
async function ownersOf(...paths: readonly string[]): Promise<readonly (readonly [number, number, number])[]> {
  const found = await Promise.all(paths.map(path => stat(join(folder, path))))
  return found.map(({ uid, gid, mode }) => [uid, gid, (mode & 0o070) >> 3] as const)
}

test('what an earlier user wrote for itself alone can be read and written by the group of the tenant, and stays its own', async () => {
  await writeAsFormerUser()
  const paths = ['colours', 'folder', 'folder/file']
  expect(await ownersOf(...paths)).toEqual(paths.map(() => [1001, 1000, 0]))
  await offerVolume()
  await deploy('red')
  await answers('former\nred\n')
  const group = (await firstUserOfTenant(platform.admin)) + 1000
  expect(await ownersOf(...paths)).toEqual([
    [1001, group, 0o6],
    [1001, group, 0o7],
    [1001, group, 0o6],
  ])
  await deploy('green')
  await answers('former\nred\ngreen\n')
})

test('a schedule runs by itself, shows its log to the developer and runs no pod in between; nothing of it stays after the Application', async () => {
  const pods = `?labelSelector=sekisho.dev/application=${scheduled},sekisho.dev/process=nightly`
  // The next minute begins within 60 s.
  const { metadata: run } = await waitUntil(
    'a run has succeeded',
    async () => (await list(platform.admin, 'pod', pods)).find(({ status }) => status?.['phase'] === 'Succeeded'),
    { timeoutMilliseconds: limits.build },
  )
  const log = await dave(['logs', run.name])
  expect(log.output).toMatch(/^swept at \d{4}-/)
  await platform.remove([`application/${scheduled}`])
  await waitUntil('no pod is left', async () => (await list(platform.admin, 'pod', pods)).length === 0, {
    timeoutMilliseconds: limits.rollout,
  })
})
