// What a message that may become public never has: values of AppSecrets, and credentials of services.
import { expect, test } from 'vitest'
import type { KubeClient } from '../../kube/client/client.ts'
import { withoutSecrets } from './gather.ts'

const encoded = (data: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]))

const stored: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'appsecret-shop': { API_TOKEN: 'a-token-of-the-application' },
  'binding-shop-db-1': {
    type: 'postgresql',
    host: 'db.internal',
    username: 'l_x_a',
    password: 'password-of-the-login',
    uri: 'postgres://l_x_a:password-of-the-login@db.internal/s_x',
  },
}

const client = {
  get: async (_type: unknown, { name }: { readonly name: string }) =>
    stored[name] && { apiVersion: 'v1', kind: 'Secret', metadata: { name }, data: encoded(stored[name]) },
} as unknown as Pick<KubeClient, 'get'>

type Subject = Parameters<typeof withoutSecrets>[1]

test('a message has neither, also where a Secret is not there; what is no secret stays', async () => {
  const message = `postgresql at db.internal refuses l_x_a:password-of-the-login, and a-token-of-the-application: ${stored['binding-shop-db-1']?.['uri']}`
  const subject = {
    situation: { message },
    secrets: ['shop', 'gone'],
    bindings: ['shop-db-1', 'gone'],
    context: { namespace: 'acme' },
  } as unknown as Subject
  const cleaned = (await withoutSecrets(client, subject))?.message
  expect(cleaned).not.toMatch(/password-of-the-login|a-token-of-the-application/)
  expect(cleaned).toContain('postgresql at db.internal refuses l_x_a')
})
