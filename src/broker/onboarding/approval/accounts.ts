// Decides whether a GitHub account may be onboarded without a platform admin. Pure. Without a list, which is the default, no
// account is.
import { itemsOf } from '../../../lib/config.ts'

/** `any`: every account of the App's host. Otherwise the numeric ids of organisations and users. */
export type ListedAccounts = 'any' | ReadonlySet<number>

/** Reads the setting: numeric ids, separated by commas, or `any`. Throws for a login, which would silently match no account. */
export function parseAccounts(text: string): ListedAccounts {
  const items = itemsOf(text)
  if (items.length === 1 && items[0] === 'any') return 'any'
  const wrong = items.find(item => !/^[1-9][0-9]{0,14}$/.test(item))
  if (wrong === undefined) return new Set(items.map(Number))
  throw new Error(`holds ${wrong.slice(0, 100)}; it must hold numeric account ids, separated by commas, or only the word any`)
}

type Account = { readonly host: string; readonly id: number }

/**
 * An account that has a tenant was admitted before. A tenant that is being deleted does not count: it may be a platform admin's
 * doing.
 */
export function mayOnboard(
  account: Account,
  listed: ListedAccounts,
  tenants: readonly {
    readonly metadata: { readonly deletionTimestamp?: string | undefined }
    readonly spec: { readonly account: Account }
  }[],
): boolean {
  if (listed === 'any' || listed.has(account.id)) return true
  return tenants.some(
    ({ metadata, spec }) =>
      metadata.deletionTimestamp === undefined && spec.account.host === account.host && spec.account.id === account.id,
  )
}
