// Logins of a database as credentials.
import { randomBytes } from 'node:crypto'
import { bindingAuthorityKey, bindingProvider } from '../../api/services/binding-secret.ts'
import type { ServiceBinding } from '../../api/services/service-binding.ts'
import { defaultConnections } from '../../api/services/service-class.ts'
import { SecretString } from '../../lib/secret-string.ts'
import { namesOf, type SlotName } from '../adapters/postgresql/identifiers.ts'
import { type Access, dropLogin, ensureLogin, isClosedLogin, liveLogins } from '../adapters/postgresql/logins.ts'
import { observe } from '../adapters/postgresql/proof.ts'
import { judge } from '../proofs/judge.ts'
import { type OpenDatabases, secretIn } from '../providers/provider.ts'
import { type Credentials, slotNames, type Values } from './credentials.ts'
import { principalOf } from './principal.ts'

const passwordBytes = 32

/** `id`: of the instance on the server. */
export function databaseCredentials(opened: OpenDatabases, binding: ServiceBinding, id: string): Credentials {
  const { server } = opened
  const access = accessOf(binding.spec)
  const loginOf = (slot: SlotName): string => principalOf(binding, slot)
  return {
    type: 'postgresql',
    async look() {
      const sessions = await liveLogins(server, slotNames.map(loginOf))
      const live = new Set(slotNames.filter(slot => sessions.has(loginOf(slot))))
      return { live, idle: new Set([...live].filter(slot => sessions.get(loginOf(slot)) === 0)) }
    },
    isClosed: slot => isClosedLogin(server, loginOf(slot)),
    async make(slot, { limits: { connections = defaultConnections } }) {
      const password = new SecretString(randomBytes(passwordBytes).toString('base64url'))
      const username = loginOf(slot)
      const role = await ensureLogin(server, { id, name: username, access, connections }, password)
      // Over its plan an instance has no credential that writes.
      const proven = role === namesOf(id).remover ? 'ReadOnly' : access
      const prove = async () => judge(proven, { login: username, role }, await observe(server, id, { username, password }))
      return { key: { password }, prove }
    },
    drop: slot => dropLogin(server, id, loginOf(slot)),
    valuesOf: (slot, key) => valuesOf(opened, namesOf(id).database, loginOf(slot), secretIn(key, 'password')),
  }
}

/** The schema has no other for a database. */
function accessOf({ access }: ServiceBinding['spec']): Access {
  if (access === 'WriteOnly') throw new Error('the schema allows WriteOnly for buckets alone')
  return access
}

function valuesOf({ host, port, tls }: OpenDatabases, database: string, username: string, password: SecretString): Values {
  const sslmode = tls === undefined ? 'disable' : 'verify-full'
  // An address of IPv6 stands in brackets in a URL.
  const place = `${host.includes(':') ? `[${host}]` : host}:${port}/${database}`
  const secret = encodeURIComponent(password.reveal())
  return {
    type: 'postgresql',
    provider: bindingProvider,
    host,
    port: String(port),
    database,
    username,
    password,
    uri: new SecretString(`postgresql://${username}:${secret}@${place}?sslmode=${sslmode}`),
    'jdbc-url': new SecretString(`jdbc:postgresql://${place}?user=${username}&password=${secret}&sslmode=${sslmode}`),
    sslmode,
    ...(tls?.ca !== undefined && { [bindingAuthorityKey]: tls.ca }),
  }
}
