// What people change outside of the platform, and the platform notices at once: labels of a tenant's namespaces, and the access
// to a repository on GitHub. The application clock of the demo serves all the time.
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { giveToTeam, takeFromTeam } from '../../dev/demo/scenario/repositories.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { read, readyOf, untilReason } from './objects.ts'
import { openPlatform, type Platform } from './platform.ts'
import { watchServing } from './serving.ts'

const repository = 'clock'
const remoteSync = `remotesync/${repository}`

let platform: Platform
beforeAll(async () => {
  platform = await openPlatform(['dave'])
})
afterAll(async () => {
  await giveToTeam(platform.world, repository)
  await platform.admin.close()
})

test.each(['acme', 'acme-build'])('the Pod Security of the namespace %s is put back', async name => {
  const label = 'pod-security.kubernetes.io/enforce'
  const labelsOf = async (): Promise<Readonly<Record<string, string>>> =>
    ((await read(platform.admin, `namespace/${name}`)).metadata as { labels?: Record<string, string> }).labels ?? {}
  const before = (await labelsOf())[label]
  expect(before).toBeDefined()
  const removed = await platform.asAdministrator(['label', 'namespace', name, `${label}=baseline`, '--overwrite'])
  expect(removed).toMatchObject({ code: 0 })
  await waitUntil(`${label} of ${name} is ${before} again`, async () => (await labelsOf())[label] === before)
})

test('access that dave loses on GitHub is noticed, and so is that he has it again; what runs goes on', async () => {
  const { admin, world } = platform
  await untilReason(admin, remoteSync, 'Deployed')
  const serving = await watchServing(admin, String((await read(admin, `application/${repository}`)).status?.['url']))
  onTestFinished(serving.end)
  await takeFromTeam(world, repository)
  const denied = await untilReason(admin, remoteSync, 'GrantDenied', 30)
  expect(denied.message).toMatch(/sekisho transfer remotesync\/clock/)
  await giveToTeam(world, repository)
  await untilReason(admin, remoteSync, 'Deployed', 60)
  expect(readyOf(await read(admin, remoteSync))?.status).toBe('True')
  await serving.endServed(1)
})
