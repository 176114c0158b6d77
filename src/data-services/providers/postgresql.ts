// A PostgreSQL server that tenants share: each instance is a database on it.
import { postgresqlOf } from '../../api/services/provider.ts'
import { connectServer } from '../adapters/postgresql/server.ts'
import { checkServer } from '../adapters/postgresql/server-check.ts'
import { type Provider, secretIn } from './provider.ts'

export const postgresqlProvider: Provider<'postgresql'> = {
  accountKeys: ['username', 'password'],
  secretsOf(serviceClass) {
    const { adminSecret, tls } = postgresqlOf(serviceClass)
    return { account: adminSecret.name, authority: tls.caSecret?.name }
  },
  connect(serviceClass, { account, ca, count }) {
    const { host, port, tls: wanted } = postgresqlOf(serviceClass)
    const tls = wanted.mode === 'Disable' ? undefined : { ca }
    const administrator = { username: secretIn(account, 'username').reveal(), password: secretIn(account, 'password') }
    const server = connectServer({ host, port, ...(tls && { tls }) }, administrator, count)
    return { type: 'postgresql', server, host, port, tls }
  },
  check: async ({ server }) => ({ type: 'postgresql', ...(await checkServer(server)) }),
  async leave() {},
  close: ({ server }) => server.close(),
}
