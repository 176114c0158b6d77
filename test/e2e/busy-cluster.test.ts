// A cluster whose Deployment controller does not run for a while, as during an update of the control plane: nothing is known
// about a release that Kubernetes has not begun with, so it is not rolled back, and its time begins when Kubernetes begins.
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { devProcessFolders } from '../../dev/cluster/node/layout.ts'
import { isAlive } from '../../dev/cluster/processes/identity.ts'
import { readRecord } from '../../dev/cluster/processes/record.ts'
import { readClusterSettings } from '../../dev/cluster/settings.ts'
import type { Application } from '../../src/api/apps/application.ts'
import { limits } from '../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { applicationManifest } from './manifests.ts'
import { read, readyOf, untilReason } from './objects.ts'
import { openPlatform, type Platform } from './platform.ts'

const name = 'e2e-busy'
const reference = `application/${name}`
const timeoutSeconds = 30
const server = "require('node:http').createServer((q, a) => a.end(process.env.COLOUR)).listen(process.env.PORT)"
const web = { name: 'web', port: 3000, memory: '64Mi', command: ['node', '-e', server], gracePeriodSeconds: 10 }

let platform: Platform
let image = ''

beforeAll(async () => {
  platform = await openPlatform(['dave'])
  await platform.remove([reference])
  image = String((await read(platform.admin, 'application/shop')).status?.['image'])
})
afterAll(async () => {
  await platform.remove([reference])
  await platform.admin.close()
})

const deploy = (colour: string): Promise<string> => {
  const env = [{ name: 'COLOUR', value: colour }]
  return platform.apply('dave', [applicationManifest(name, { image, env, processes: [web], rollout: { timeoutSeconds } })])
}

const statusNow = async (): Promise<NonNullable<Application['status']>> =>
  ((await read(platform.admin, reference)).status ?? {}) as NonNullable<Application['status']>

/** Stops the controllers of Kubernetes, and lets them go on at the end of the test at the latest. */
async function pauseControllers(): Promise<() => void> {
  const record = await readRecord(devProcessFolders(readClusterSettings()).records, 'kube-controller-manager')
  if (record === undefined || !isAlive(record)) throw new Error('the local cluster has no kube-controller-manager')
  const goOn = (): void => void process.kill(record.pid, 'SIGCONT')
  onTestFinished(goOn)
  process.kill(record.pid, 'SIGSTOP')
  return goOn
}

test('a release is not rolled back while Kubernetes has not begun with it, and has its whole time then', async () => {
  await deploy('red')
  await untilReason(platform.admin, reference, 'Available')
  const goOn = await pauseControllers()
  await deploy('blue')
  const { startedAt } = await waitUntil(
    'the rollout counts as delayed',
    async () => {
      const { rollout } = await statusNow()
      if (rollout?.release === 2 && rollout.delayed === true) return rollout
      throw new Error(JSON.stringify(rollout))
    },
    { timeoutMilliseconds: limits.rollout },
  )
  const ready = await waitUntil(
    'the time of the rollout is over',
    async () => {
      if (Date.now() < Date.parse(startedAt) + (timeoutSeconds + 3) * 1000) throw new Error('not yet')
      return readyOf(await read(platform.admin, reference))
    },
    { timeoutMilliseconds: (timeoutSeconds + 15) * 1000 },
  )
  expect(ready).toMatchObject({ reason: 'RollingOut', message: expect.stringContaining('kube-controller-manager') })
  expect(await statusNow()).toMatchObject({ release: 1, latestRelease: 2, rollout: { release: 2 } })
  goOn()
  await untilReason(platform.admin, reference, 'Available')
  const { rollout, ...status } = await statusNow()
  expect(status).toMatchObject({ release: 2, latestRelease: 2 })
  expect(status.rollback).toBeUndefined()
  expect(Date.parse(rollout?.observedAt ?? '')).toBeGreaterThan(Date.parse(startedAt) + timeoutSeconds * 1000)
})
