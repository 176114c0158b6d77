// What an Application keeps and what it runs by a schedule, with the scheduler, the kubelet and the CronJob controller of the cluster: a volume outlives
// pods and the Application, and a schedule runs with its log for the developer. The cluster makes no volumes by itself, so the test brings one of its own.
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readClusterSettings } from '../../dev/cluster/settings.ts'
import { eventually } from '../../dev/demo/steps.ts'
import { applicationManifest } from './manifests.ts'
import { find, list, read, untilReason } from './objects.ts'
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
  await eventually('the earlier volume is gone', 60, async () =>
    (await platform.admin.request('GET', volume)).status === 404 ? true : undefined,
  )
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

async function remove(): Promise<void> {
  await platform.remove([reference])
  await platform.remove([claim])
}

beforeAll(async () => {
  platform = await openPlatform(['dave'])
  await remove()
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  await offerVolume()
  image = String((await read(platform.admin, 'application/shop')).status?.['image'])
})

afterAll(async () => {
  await remove()
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
  await eventually(`${url} answers ${JSON.stringify(text)}`, 90, async () => {
    const answer = await requestVersion(url, '/')
    if (answer.status !== 200 || answer.text !== text) throw new Error(`${answer.status} ${answer.text}`)
    return true
  })
}

test('what a process writes to its volume outlives its pods and its Application, and goes when it is to be deleted', async () => {
  await deploy('red')
  await answers('red\n')
  await deploy('green')
  await answers('red\ngreen\n')
  expect(await dave(['delete', reference])).toMatchObject({ code: 0 })
  await eventually('the Application is gone', 60, async () => (await find(platform.admin, reference)) === undefined || undefined)
  expect((await read(platform.admin, claim)).metadata.deletionTimestamp).toBeUndefined()
  await deploy('blue')
  await answers('red\ngreen\nblue\n')
  await deploy('blue', { volumes: [{ ...data, whenDeleted: 'Delete' }] })
  await untilReason(platform.admin, reference, 'Available')
  expect(await dave(['delete', reference])).toMatchObject({ code: 0 })
  await eventually('the claim is gone', 60, async () => (await find(platform.admin, claim)) === undefined || undefined)
})

test('a schedule runs by itself, shows its log to the developer and runs no pod in between; nothing of it stays after the Application', async () => {
  const nightly = {
    name: 'nightly',
    schedule: '* * * * *',
    command: ['node', '-e', "console.log('swept at ' + new Date().toISOString())"],
  }
  await deploy('red', { volumes: [], processes: [{ ...web, replicas: 0 }], cron: [nightly] })
  const pods = `?labelSelector=sekisho.dev/application=${name},sekisho.dev/process=nightly`
  // The next minute begins within 60 s.
  await eventually('a run has succeeded', 120, async () =>
    (await list(platform.admin, 'pod', pods)).some(({ status }) => status?.['phase'] === 'Succeeded') ? true : undefined,
  )
  const log = await dave(['logs', '-l', `sekisho.dev/application=${name},sekisho.dev/process=nightly`])
  expect(log.output).toMatch(/^swept at \d{4}-/)
  await platform.remove([reference])
  await eventually('no pod is left', 60, async () => (await list(platform.admin, 'pod', pods)).length === 0 || undefined)
})
