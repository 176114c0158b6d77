import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { stringify } from 'yaml'
import { defined } from '../../lib/json/defined.ts'
import { ownPluginFlags } from './own-plugin.ts'
import { resolveKubeconfig } from './resolved-kubeconfig.ts'

function file(content: object | string, name = 'config'): string {
  const folder = mkdtempSync(join(tmpdir(), 'sekisho-kubeconfig-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, name)
  writeFileSync(path, typeof content === 'string' ? content : stringify(content))
  return path
}

const named = (name: string, extra: { user?: object; cluster?: object; namespace?: string; current?: string } = {}) => ({
  'current-context': extra.current ?? name,
  clusters: [{ name, cluster: { server: `https://${name}.example`, ...extra.cluster } }],
  users: [{ name, user: extra.user ?? { token: name } }],
  contexts: [
    {
      name,
      context: { cluster: name, user: name, ...defined({ namespace: extra.namespace }) },
    },
  ],
})

test('as kubectl: the first file with a current context and the first entry of a name count; a missing file is left out', async () => {
  const first = file({ contexts: named('one', { namespace: 'a' }).contexts })
  const second = file({ ...named('one', { namespace: 'b', current: 'one' }) })
  const found = await resolveKubeconfig({}, ['/nowhere/config', first, second])
  expect(found).toMatchObject({
    context: 'one',
    namespace: 'a',
    cluster: { server: 'https://one.example' },
    user: { token: 'one' },
  })
  expect((await resolveKubeconfig({ namespace: 'c' }, [first, second])).namespace).toBe('c')
  expect((await resolveKubeconfig({}, [file(named('one'))])).namespace).toBe('default')
  expect((await resolveKubeconfig({ kubeconfig: second }, [first])).namespace).toBe('b')
})

test('--context names another context, and what is missing is named with what exists', async () => {
  const path = file({
    ...named('acme'),
    contexts: [
      ...named('acme').contexts,
      ...named('globex').contexts,
      { name: 'broken', context: { cluster: 'nope', user: 'acme' } },
    ],
  })
  const resolve = (context: string) => resolveKubeconfig({ kubeconfig: path, context })
  await expect(resolve('acne')).rejects.toThrow(/no context "acne"; it has acme, globex, broken; did you mean acme\?/)
  await expect(resolve('broken')).rejects.toThrow(/no cluster "nope"; it has acme/)
  await expect(resolveKubeconfig({ kubeconfig: '/nowhere/config' })).rejects.toThrow(
    /there is no kubeconfig \/nowhere\/config: run sekisho kubeconfig/,
  )
  await expect(resolveKubeconfig({ kubeconfig: file('a: [') })).rejects.toThrow(/not valid YAML/)
  await expect(resolveKubeconfig({ kubeconfig: file({ contexts: [] }) })).rejects.toThrow(/no current context: .*--context/)
})

test('paths are relative to the folder of their file', async () => {
  const path = file(
    named('one', {
      cluster: { 'certificate-authority': 'ca.pem' },
      user: { 'client-certificate': '/etc/me.pem', exec: { command: './plugin' } },
    }),
  )
  const folder = path.slice(0, -'/config'.length)
  expect(await resolveKubeconfig({ kubeconfig: path })).toMatchObject({
    cluster: { 'certificate-authority': `${folder}/ca.pem` },
    user: { 'client-certificate': '/etc/me.pem', exec: { command: `${folder}/plugin` } },
  })
})

const plugin = (exec: object, more: object = {}) => ({
  where: '',
  context: '',
  namespace: '',
  cluster: {},
  user: { exec, ...more },
})

test.each([
  [
    { command: '/opt/sekisho', args: ['token', '--issuer', 'https://a.example', '--ca-file', '/ca.pem'] },
    { issuer: 'https://a.example', caFile: '/ca.pem' },
  ],
  [{ command: 'sekisho', args: ['token'] }, {}],
  [{ command: '/checkout/bin/other', args: ['token'] }, {}],
  [{ command: 'aws', args: ['token'] }, undefined],
  [{ command: 'sekisho', args: ['whoami'] }, undefined],
  [{ command: 'sekisho', args: ['token', '--issuer'] }, undefined],
  [{ command: 'sekisho', args: ['token', '--verbose', 'x'] }, undefined],
  [{ command: 'sekisho', args: ['token'], env: [{ name: 'HOME', value: '/tmp' }] }, undefined],
])('the user %j is our plugin: %j', (exec, flags) => {
  expect(ownPluginFlags(plugin(exec), '/checkout/bin/other')).toEqual(flags)
})

test('a user that also impersonates is left to the other reader, which refuses it', () => {
  expect(ownPluginFlags(plugin({ command: 'sekisho', args: ['token'] }, { as: 'somebody' }))).toBeUndefined()
})
