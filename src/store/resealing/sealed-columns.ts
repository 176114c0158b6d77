// Every column that holds sealed values, as data: how its rows are named, for which purpose it is sealed, and what binds a seal
// to its row. A test compares the list with prisma/schema.prisma. It reads nothing.

import { oidcSealContext } from '../oidc-records.ts'
import { platformKeySealContext } from '../platform-keys.ts'
import { tokenSealContext } from '../tokens/installation-token.ts'
import { userSealContext } from '../users.ts'

/** A column of sealed values. Empty and absent values are not sealed. */
export type SealedColumn = {
  /** What people call its values. */
  readonly name: string
  /** With its schema: constants of this file, because they become part of statements. */
  readonly table: string
  readonly column: string
  /** The columns of the primary key, in its order, and their types. */
  readonly key: readonly { readonly column: string; readonly type: 'text' | 'uuid' | 'bigint' }[]
  readonly purpose: string
  /** Gets the values of the primary key as texts. */
  readonly context: (...key: string[]) => string
}

/** What the sealers of the store's repositories are derived for. */
export const sealPurposes = {
  tokens: 'installation-token',
  sessions: 'session',
  oidc: 'oidc',
  users: 'user-token',
  keys: 'platform-key',
} as const

const handle = [{ column: 'handle_hash', type: 'text' }] as const
const person = [
  { column: 'host', type: 'text' },
  { column: 'user_id', type: 'bigint' },
] as const

/**
 * Of the schema `broker`. The platform keys come last, here and below: a process does not start without the key that sealed
 * them, so that a former key cannot be removed before everything else is sealed again.
 */
export const brokerSealedColumns: readonly SealedColumn[] = [
  {
    name: 'sign-ins in progress',
    table: 'broker.login_states',
    column: 'sealed_data',
    key: handle,
    purpose: sealPurposes.sessions,
    context: hash => hash,
  },
  {
    name: 'web sessions',
    table: 'broker.sessions',
    column: 'sealed_data',
    key: handle,
    purpose: sealPurposes.sessions,
    context: hash => hash,
  },
  {
    name: 'access tokens of users',
    table: 'broker.users',
    column: 'sealed_access_token',
    key: person,
    purpose: sealPurposes.users,
    context: (host = '', userId = '') => userSealContext('access', host, userId),
  },
  {
    name: 'refresh tokens of users',
    table: 'broker.users',
    column: 'sealed_refresh_token',
    key: person,
    purpose: sealPurposes.users,
    context: (host = '', userId = '') => userSealContext('refresh', host, userId),
  },
  {
    name: 'records of the OIDC issuer',
    table: 'broker.oidc_records',
    column: 'sealed_payload',
    key: [
      { column: 'model', type: 'text' },
      { column: 'id_hash', type: 'text' },
    ],
    purpose: sealPurposes.oidc,
    context: (model = '', idHash = '') => oidcSealContext(model, idHash),
  },
  {
    name: 'platform keys of the broker',
    table: 'broker.platform_keys',
    column: 'sealed',
    key: [{ column: 'name', type: 'text' }],
    purpose: sealPurposes.keys,
    context: (name = '') => platformKeySealContext(name),
  },
]

/** Of the schema `desk`. */
export const deskSealedColumns: readonly SealedColumn[] = [
  {
    name: 'installation tokens',
    table: 'desk.tokens',
    column: 'sealed_token',
    key: [{ column: 'id', type: 'uuid' }],
    purpose: sealPurposes.tokens,
    context: (id = '') => tokenSealContext(id),
  },
  {
    name: 'platform keys of the controllers',
    table: 'desk.platform_keys',
    column: 'sealed',
    key: [{ column: 'name', type: 'text' }],
    purpose: sealPurposes.keys,
    context: (name = '') => platformKeySealContext(name),
  },
]
