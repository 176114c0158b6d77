// An Application whose image is private: the kubelet pulls it with a Secret of the tenant, which roles of tenants do not give
// back.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readClusterSettings } from '../../dev/cluster/settings.ts'
import { tenantNamespace } from '../../dev/demo/context.ts'
import { limits } from '../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { applicationManifest } from './manifests.ts'
import { type Neighbour, openNeighbour } from './neighbour.ts'
import { find, read, readyOf, untilReason } from './objects.ts'
import { openPlatform, type Platform } from './platform.ts'
import { type PrivateRegistry, startPrivateRegistry } from './private-registry.ts'

const name = 'e2e-private'
const secret = `${name}-pull`
const reference = `application/${name}`
let platform: Platform
let registry: PrivateRegistry
let neighbour: Neighbour

async function forget(): Promise<void> {
  await platform.remove([reference])
  await platform.asAdministrator(['delete', 'secret', secret, '-n', tenantNamespace, '--ignore-not-found'])
}

beforeAll(async () => {
  platform = await openPlatform(['dave'])
  const { status } = await read(platform.admin, 'application/shop')
  registry = await startPrivateRegistry(readClusterSettings(), String(status?.['image']))
  await forget()
  neighbour = await openNeighbour(platform, 'e2e-onlooker', 999_003)
})
afterAll(async () => {
  await neighbour.end()
  await forget()
  await registry.close()
  await platform.admin.close()
})

test('it runs as soon as the Application names a Secret with which it can be pulled; before that the message says so', async () => {
  const { kubectl, apply, admin } = platform
  const { image, host, username, password } = registry
  await apply('dave', [applicationManifest(name, { image })])
  const refused = await untilReason(admin, reference, 'ImagePullFailed')
  expect(refused.message).toContain('for a private image name a Secret that may pull it in spec.imagePullSecrets')

  const credential = [`--docker-server=${host}`, `--docker-username=${username}`, `--docker-password=${password}`]
  const created = await kubectl('dave', ['create', 'secret', 'docker-registry', secret, ...credential])
  expect(created).toMatchObject({ code: 0 })
  const patch = JSON.stringify({ spec: { imagePullSecrets: [secret] } })
  expect(await kubectl('dave', ['patch', 'application', name, '--type', 'merge', '-p', patch])).toMatchObject({ code: 0 })
  await untilReason(admin, reference, 'Available', 120)
  expect((await read(admin, reference)).status).toMatchObject({ image, release: 2 })
  expect(await kubectl('dave', ['get', 'secret', secret])).toMatchObject({ code: 1, errors: expect.stringMatching(/forbidden/i) })
})

test('the pods of another tenant cannot run it, although the node has it by now', async () => {
  const { admin, asAdministrator } = platform
  const { namespace } = neighbour
  const application = { ...applicationManifest(name, { image: registry.image }), metadata: { name, namespace } }
  const file = join(platform.stateFolder, `${name}.json`)
  await writeFile(file, JSON.stringify(application))
  expect(await asAdministrator(['apply', '-f', file])).toMatchObject({ code: 0 })
  const refused = await waitUntil(
    'the image to be refused',
    async () => {
      const ready = readyOf(await find(admin, reference, namespace))
      expect(ready?.reason).toBe('ImagePullFailed')
      return ready
    },
    { timeoutMilliseconds: limits.rollout, everyMilliseconds: 500 },
  )
  expect(refused?.message).toContain('spec.imagePullSecrets')
})

test('a Secret of the platform cannot be named', async () => {
  const patch = JSON.stringify({ spec: { imagePullSecrets: ['sekisho-registry-build'] } })
  const { code, errors } = await platform.kubectl('dave', ['patch', 'application', name, '--type', 'merge', '-p', patch])
  expect(code).toBe(1)
  expect(errors).toContain('belong to the platform: name a Secret of your own')
})
