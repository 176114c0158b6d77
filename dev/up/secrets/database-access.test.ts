// The URLs of the roles in a database of the user's: one password each, kept from run to run, and the owner's parameters.
import { expect, test } from 'vitest'
import type { Kubectl } from '../kubectl.ts'
import { givenDatabase } from './database-access.ts'

const ownerUrl = 'postgresql://owner:p%40ss@db.example.com:6432/paas?sslmode=verify-full'

/** A cluster in which these Secrets exist. */
function clusterWith(secrets: Readonly<Record<string, Readonly<Record<string, string>>>>): Kubectl {
  const refuse = (): never => {
    throw new Error('only reads are expected')
  }
  return {
    applyFolder: refuse,
    applyText: refuse,
    deleteText: refuse,
    run: refuse,
    ask: refuse,
    read: async ([, name = '']) => {
      const data = secrets[name]
      if (data === undefined) return undefined
      return {
        data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')])),
      }
    },
  }
}

test('each role gets a password of its own, at the host and with the parameters of the owner', async () => {
  const { urls, passwords, authority } = await givenDatabase(clusterWith({}), { ownerUrl, authority: 'PEM' })
  expect(authority).toBe('PEM')
  expect(passwords.owner).toBe('p@ss')
  expect(new Set(Object.values(passwords)).size).toBe(4)
  for (const role of ['broker', 'desk', 'audit'] as const) {
    const url = new URL(urls[role])
    expect([url.username, url.password, url.host, url.pathname]).toEqual([
      `sekisho_${role}`,
      passwords[role],
      'db.example.com:6432',
      '/paas',
    ])
    expect(Object.fromEntries(url.searchParams)).toEqual({
      sslmode: 'verify-full',
      sslrootcert: '/etc/sekisho/secrets/database-ca.crt',
    })
  }
  expect(new URL(urls.owner).username).toBe('owner')
})

test('passwords that pods have stay, and without an authority none is named', async () => {
  const kept = 'postgresql://sekisho_broker:0123@db.example.com:6432/paas'
  const cluster = clusterWith({ 'sekisho-broker-secrets': { 'database-url': kept } })
  const { urls, passwords, authority } = await givenDatabase(cluster, { ownerUrl, authority: null })
  expect([passwords.broker, new URL(urls.broker).password, authority]).toEqual(['0123', '0123', undefined])
  expect(urls.broker).not.toContain('sslrootcert')
})
