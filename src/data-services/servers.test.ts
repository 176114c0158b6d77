import { expect, test, vi } from 'vitest'
import type { ServiceClass } from '../api/services/service-class.ts'
import { SecretString } from '../lib/secret-string.ts'
import type { OpenDatabases } from './providers/provider.ts'
import { createServers } from './servers.ts'

const account = (password: string) => ({ username: new SecretString('admin'), password: new SecretString(password) })

function classOf(name: string, { port = 5432, mode = 'Disable', secret = name } = {}): ServiceClass {
  const postgresql = { host: 'db.example.com', port, adminSecret: { name: secret }, tls: { mode } }
  return { metadata: { name }, spec: { type: 'postgresql', provider: { postgresql } } } as unknown as ServiceClass
}

test('classes of one server and account have one connection, which ends with the last of them', async () => {
  const servers = createServers()
  const one = servers.open(classOf('one'), account('p'), undefined)
  expect(servers.open(classOf('two'), account('p'), undefined)).toBe(one)
  expect(servers.every('postgresql').map(([name]) => name)).toEqual(['one', 'two'])
  const others = [
    servers.open(classOf('port', { port: 5433 }), account('p'), undefined),
    servers.open(classOf('mode', { mode: 'VerifyFull' }), account('p'), undefined),
    servers.open(classOf('authority'), account('p'), 'ca'),
    servers.open(classOf('account'), account('q'), undefined),
  ]
  expect(new Set([one, ...others]).size).toBe(5)
  const close = vi.spyOn((one as OpenDatabases).server, 'close')
  await servers.forget('one')
  expect(servers.of('two', 'postgresql')).toBe(one)
  expect(close).not.toHaveBeenCalled()
  // It moves to the other account.
  expect(servers.open(classOf('two'), account('q'), undefined)).toBe(others[3])
  expect(close).toHaveBeenCalledOnce()
  await servers.close()
})
