// The names that databases and roles have on a server. Every tenant of the server can see them, so they say nothing of a tenant:
// each is a hash. Pure. Nothing that a tenant wrote ever becomes part of a statement.
import { hashedName } from '../hashed-name.ts'

/** Whose database it is. Found again by the same name in the same namespace of the same Tenant. */
export type InstanceOwner = { readonly tenantUid: string; readonly namespace: string; readonly name: string }
export type SlotName = 'a' | 'b'

/**
 * What an instance is on the server: the database, the role that owns its schemas, and the role that reads. `remover` reads and
 * deletes: what logins act as whose writes ended.
 */
export type InstanceNames = {
  readonly database: string
  readonly owner: string
  readonly reader: string
  readonly remover: string
}

const identifier = /^[a-z][a-z0-9_]{0,62}$/

/** The name of the database, which is the instance's id on the server. */
export function instanceId({ tenantUid, namespace, name }: InstanceOwner): string {
  return `s${hashedName([tenantUid, namespace, name])}`
}

/** What stands for a Tenant on the server: not its name, and the same for all that it has. */
export function tenantMark(tenantUid: string): string {
  return hashed(['tenant', tenantUid])
}

/** The names of an instance with this id. */
export function namesOf(id: string): InstanceNames {
  return { database: id, owner: `o_${id}`, reader: `r_${id}`, remover: `d_${id}` }
}

/** The login of a slot of the ServiceBinding with this uid. */
export function loginName(bindingUid: string, slot: SlotName): string {
  return `l_${hashedName([bindingUid])}_${slot}`
}

/** The login for one task inside of the instance's database; `nonce` is a few hexadecimal digits. */
export function taskLoginName(id: string, nonce: string): string {
  return `t_${id}_${nonce}`
}

/** What `loginName` makes. */
export const loginPattern = /^l_[a-z2-7]{26}_[ab]$/

/** What `loginName` and `taskLoginName` make. */
export const ownLogin = /^(l_[a-z2-7]{26}_[ab]|t_s[a-z2-7]{26}_[0-9a-f]+)$/

/** An identifier for a statement. Throws for what is none of our names. */
export function quoted(name: string): string {
  if (!identifier.test(name)) throw new Error('not a name that the platform gives on a server')
  return `"${name}"`
}
