import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { stringify } from 'yaml'
import { createFakeClock } from '../../lib/testing/fake-clock.ts'
import { loadInClusterConnection } from './in-cluster.ts'
import { loadKubeConnection } from './kubeconfig.ts'

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'sekisho-kube-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

function kubeconfig(user: object, cluster: object = {}): string {
  const path = join(folder(), 'config')
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'main',
    clusters: [{ name: 'c', cluster: { server: 'https://10.0.0.1:6443', 'certificate-authority-data': btoa('CA'), ...cluster } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'main', context: { cluster: 'c', user: 'u', namespace: 'acme' } }],
  }
  writeFileSync(path, stringify(config))
  return path
}

test('reads server, certificates, token and namespace of the current context', async () => {
  const clock = createFakeClock()
  const withToken = await loadKubeConnection({ environment: { KUBECONFIG: kubeconfig({ token: 'abc' }) }, clock })
  expect(withToken.server.href).toBe('https://10.0.0.1:6443/')
  expect(withToken.tls.ca).toBe('CA')
  expect((await withToken.authorization())?.reveal()).toBe('Bearer abc')
  const pair = { 'client-certificate-data': btoa('CERT'), 'client-key-data': btoa('KEY') }
  const withPair = await loadKubeConnection({ environment: { KUBECONFIG: kubeconfig(pair) }, clock })
  expect(withPair.tls.cert).toBe('CERT')
  expect(withPair.tls.key?.reveal()).toBe('KEY')
  expect(JSON.stringify(withPair.tls)).not.toContain('KEY')
  expect(await withPair.authorization()).toBeUndefined()
})

test('runs an exec plugin, and again when its credential has expired', async () => {
  const place = folder()
  const plugin = join(place, 'plugin')
  writeFileSync(
    plugin,
    `#!/bin/sh
n=$(cat '${place}/count' 2>/dev/null || echo 0); n=$((n+1)); echo $n > '${place}/count'
echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"t'$n'","expirationTimestamp":"2001-01-01T00:00:00Z"}}'
`,
  )
  chmodSync(plugin, 0o755)
  const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: plugin, interactiveMode: 'Never' }
  const clock = createFakeClock()
  const connection = await loadKubeConnection({ environment: { KUBECONFIG: kubeconfig({ exec }) }, clock })
  expect((await connection.authorization())?.reveal()).toBe('Bearer t1')
  expect((await connection.authorization())?.reveal()).toBe('Bearer t1')
  await clock.advance(11_000)
  expect((await connection.authorization())?.reveal()).toBe('Bearer t2')
  expect((await connection.authorization({ fresh: true }))?.reveal()).toBe('Bearer t3')
})

test('names the file or setting that is wrong', async () => {
  const clock = createFakeClock()
  const load = (KUBECONFIG: string) => loadKubeConnection({ environment: { KUBECONFIG }, clock })
  await expect(load('/nowhere/config')).rejects.toThrow(/failed to read KUBECONFIG \/nowhere\/config: .*no such file/)
  await expect(load(kubeconfig({ as: 'somebody', token: 'x' }))).rejects.toThrow(/impersonation.* not supported/)
  await expect(load(kubeconfig({ token: 'x' }, { 'proxy-url': 'http://proxy' }))).rejects.toThrow(/proxy-url is not supported/)
  const home = folder()
  await expect(loadKubeConnection({ environment: {}, clock, homeFolder: home })).rejects.toThrow(`${home}/.kube/config`)
})

test('in a pod: reads the files of the ServiceAccount, and the token again every minute and when it was refused', async () => {
  const place = join(folder(), 'serviceaccount')
  mkdirSync(place)
  for (const [name, text] of Object.entries({ token: 'one\n', 'ca.crt': 'CA' })) writeFileSync(join(place, name), text)
  const clock = createFakeClock()
  const environment = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' }
  const connection = await loadInClusterConnection({ environment, clock, folder: place })
  expect(connection?.server.href).toBe('https://[fd00::1]/')
  const token = async (fresh = false) => (await connection?.authorization({ fresh }))?.reveal()
  expect(await token()).toBe('Bearer one')
  writeFileSync(join(place, 'token'), 'two')
  expect(await token()).toBe('Bearer one')
  expect(await token(true)).toBe('Bearer two')
  writeFileSync(join(place, 'token'), 'three')
  await clock.advance(60_000)
  expect(await token()).toBe('Bearer three')
  expect(await loadInClusterConnection({ environment: {}, clock, folder: place })).toBeUndefined()
  expect(await loadInClusterConnection({ environment, clock, folder: folder() })).toBeUndefined()
})
