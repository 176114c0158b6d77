// Defaults, overrides and refused values of the local cluster's settings.
// The real environment is never read.
import { expect, test } from 'vitest'
import { adminKubeconfig, defaultStateFolder, readClusterSettings, registryHost, toolEnvironment } from './settings.ts'

const home = { HOME: '/home/x', SEKISHO_STATE: '/srv/state' }

test('root gets the node address, others loopback', () => {
  expect(readClusterSettings(home, { root: true }).nodeAddress).toBe('10.88.0.1')
  expect(readClusterSettings(home, { root: false }).nodeAddress).toBe('127.0.0.1')
})

test('folders follow SEKISHO_CACHE, then the XDG variables, then the home folder', () => {
  expect(readClusterSettings({ ...home, SEKISHO_CACHE: '/c', XDG_CACHE_HOME: '/x' }, { root: true }).cacheFolder).toBe('/c')
  expect(readClusterSettings({ ...home, XDG_CACHE_HOME: '/x', XDG_STATE_HOME: '/y' }, { root: true })).toMatchObject({
    cacheFolder: '/x/sekisho',
    hostRecordFolder: '/y/sekisho',
  })
  expect(readClusterSettings(home, { root: true })).toMatchObject({
    cacheFolder: '/home/x/.cache/sekisho',
    hostRecordFolder: '/home/x/.local/state/sekisho',
  })
})

test('all wrong settings are reported at once', () => {
  const wrong = {
    ...home,
    SEKISHO_API_PORT: '0',
    SEKISHO_NODE_ADDRESS: 'here',
    SEKISHO_ISSUER_URL: 'http://x',
    SEKISHO_STATE: `/${'x'.repeat(80)}`,
  }
  const read = (): unknown => readClusterSettings(wrong, { root: true })
  for (const name of ['SEKISHO_API_PORT', 'SEKISHO_NODE_ADDRESS', 'SEKISHO_ISSUER_URL', 'SEKISHO_STATE'])
    expect(read).toThrow(name)
})

test('a given kubeconfig is used, but our own file in KUBECONFIG still means the local cluster', () => {
  const given = readClusterSettings({ ...home, KUBECONFIG: '/k' }, { root: true })
  expect([given.givenKubeconfig, adminKubeconfig(given)]).toEqual(['/k', '/k'])
  const own = readClusterSettings({ ...home, KUBECONFIG: '/srv/state/cluster/kubeconfig' }, { root: true })
  expect([own.givenKubeconfig, adminKubeconfig(own)]).toEqual([undefined, '/srv/state/cluster/kubeconfig'])
})

test('the development and the test control plane share no port', () => {
  const { ports, testPorts } = readClusterSettings(home, { root: true })
  expect(new Set([...Object.values(ports), ...Object.values(testPorts)]).size).toBe(8)
})

test('the registry is named by its bare address, with which builders use plain http', () => {
  expect(registryHost(readClusterSettings(home, { root: true }))).toBe('10.88.0.1:5000')
})

test('started programs get the variables that tools need and no other', () => {
  const environment = { PATH: '/bin', HTTPS_PROXY: 'p', GOFLAGS: '-x', GITHUB_TOKEN: 'secret', KUBECONFIG: '/k' }
  expect(toolEnvironment({ EXTRA: '1' }, environment)).toEqual({ PATH: '/bin', HTTPS_PROXY: 'p', GOFLAGS: '-x', EXTRA: '1' })
})

test('a checkout with a long path gets a short state folder, always the same', () => {
  expect(defaultStateFolder('/src/sekisho', '/y/sekisho')).toBe('/src/sekisho/.state')
  const long = `/${'deep/'.repeat(20)}sekisho`
  const folder = defaultStateFolder(long, '/y/sekisho')
  expect(folder).toMatch(/^\/y\/sekisho\/state\/[0-9a-f]{8}$/)
  expect(defaultStateFolder(long, '/y/sekisho')).toBe(folder)
  expect(defaultStateFolder(`${long}2`, '/y/sekisho')).not.toBe(folder)
})
