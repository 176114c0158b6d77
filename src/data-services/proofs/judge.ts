// Whether a credential may be delivered: it can do what was asked, and nothing else. Pure. `wider` is worse than `narrower`: such
// a credential is revoked and never leaves the platform.
import type { Access } from '../adapters/postgresql/logins.ts'

/** What was tried with the credential, and what the server's catalog says of it. */
export type ProofFacts = {
  /** Undefined when the server let it in; else what the server answered. */
  readonly refused: string | undefined
  /** The role that its sessions begin as. */
  readonly actsAs: string | undefined
  /** Whether it could make something in the database. */
  readonly canWrite: boolean
  /** Whether it could make a large object, for which no right in the database is needed by itself. */
  readonly canStore: boolean
  /** Whether it could take the role that owns the schemas. */
  readonly canOwn: boolean
  /** Of superuser, createdb, createrole, replication and bypassrls: those that it has, or a role that it can take. */
  readonly attributes: readonly string[]
  /** Every role whose rights it can use, itself included. */
  readonly memberships: readonly string[]
  /** Databases other than its own that the catalog opens to it, or that let it in when it was tried. */
  readonly entered: readonly string[]
}

export type Judgement = { readonly kind: 'proven' } | { readonly kind: 'wider' | 'narrower'; readonly message: string }

/** The first thing that is not as it was asked for. */
export function judge(access: Access, expected: { readonly login: string; readonly role: string }, facts: ProofFacts): Judgement {
  const excess = excessOf(access, expected, facts)
  if (excess !== undefined) return { kind: 'wider', message: `the credential could do more than was asked for: ${excess}` }
  const lack = lackOf(access, expected, facts)
  if (lack !== undefined) return { kind: 'narrower', message: `the credential cannot do what was asked for: ${lack}` }
  return { kind: 'proven' }
}

function excessOf(
  access: Access,
  { login, role }: { readonly login: string; readonly role: string },
  facts: ProofFacts,
): string | undefined {
  const others = facts.memberships.filter(name => name !== login && name !== role)
  if (facts.attributes.length > 0) return `it has ${facts.attributes.join(', ')}`
  if (others.length > 0) return `it has the rights of ${others.length} other roles of the server`
  if (facts.entered.length > 0) return `it can enter ${facts.entered.length} other databases of the server`
  if (access === 'ReadOnly' && facts.canOwn) return 'it can take the role that owns the tables'
  if (access === 'ReadOnly' && (facts.canWrite || facts.canStore)) return 'it can write'
  return undefined
}

function lackOf(access: Access, { role }: { readonly role: string }, facts: ProofFacts): string | undefined {
  if (facts.refused !== undefined) return `the server answered ${facts.refused}`
  if (facts.actsAs !== role) return 'its sessions do not begin as the role of the instance'
  if (access === 'ReadWrite' && !facts.canWrite) return 'it cannot make a schema'
  return undefined
}
