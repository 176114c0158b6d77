import { expect, test } from 'vitest'
import { SecretString } from '../../lib/secret-string.ts'
import { buildName, desiredApplication, desiredBuild, desiredSource } from './desired.ts'
import { application, commit, facts, named, sync } from './testing/remote-sync.ts'

const env = [{ name: 'A', value: '1' }]

test('the name of a build follows from what is built', () => {
  const first = buildName(sync(), commit, 1)
  expect(first).toMatch(/^shop-[0-9a-f]{12}$/)
  expect(buildName(sync(), commit, 1)).toBe(first)
  const others = [
    buildName(sync(), 'b'.repeat(40), 1),
    buildName(sync(), commit, 2),
    buildName(sync({ subPath: 'web' }), commit, 1),
    buildName(sync({ build: { ...sync().spec.build, env } }), commit, 1),
    buildName(named('shop', 'uid-2'), commit, 1),
  ]
  expect(new Set([first, ...others]).size).toBe(6)
})

test('the name of a build fits a pod', () => {
  const name = buildName(named(`${'x'.repeat(29)}.-.${'y'.repeat(200)}`), commit, 1)
  expect(name).toMatch(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/)
  expect(name.length).toBeLessThanOrEqual(53)
})

test('a source is of one commit, from the host of the installation, and outlives its build by five minutes', () => {
  const token = new SecretString('t')
  const endpoints = { host: 'github.com', web: 'https://github.com', api: 'https://api.github.com' }
  const repository = { id: 7, fullName: 'acme/shop' }
  const access = { endpoints, token, repository }
  expect(desiredSource(facts(), { name: 'shop-1', commit }, access, { fullName: 'acme/renamed' })).toEqual({
    identity: { namespace: 'acme-build', build: 'shop-1', commit },
    owner: 'uid-1',
    lifetimeSeconds: 900,
    repositoryUrl: 'https://github.com/acme/renamed.git',
    web: 'https://github.com',
    commit,
    token,
  })
})

test('a build has the settings of the RemoteSync, and the last image for its layers', () => {
  const build = { name: 'shop-1', commit }
  expect(desiredBuild(facts(), build, 'http://source/x', undefined)).toEqual({
    key: { namespace: 'acme-build', name: 'shop-1' },
    owner: { kind: 'RemoteSync', namespace: 'acme', name: 'shop', uid: 'uid-1' },
    application: 'shop',
    source: { url: 'http://source/x', commit },
    env: [],
    timeoutSeconds: 600,
  })
  const remoteSync = sync({ subPath: 'web', build: { ...sync().spec.build, env } })
  expect(desiredBuild(facts({ remoteSync }), build, 'http://source/x', 'image@1')).toMatchObject({
    source: { subPath: 'web' },
    env,
    previousImage: 'image@1',
  })
})

test('of an Application only image and commit are written, by its uid', () => {
  expect(desiredApplication(application({ chart: 'other' }), 'image@1', commit)).toEqual({
    apiVersion: 'apps.sekisho.dev/v1alpha1',
    kind: 'Application',
    metadata: { name: 'shop', namespace: 'acme', uid: 'uid-a' },
    spec: { image: 'image@1', commit },
  })
})
