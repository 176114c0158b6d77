// The rules of policies that a decision names: `status.rule` of a RepositoryGrant read back. Pure.
import type { Kind } from './policy-row.ts'
import { maxRule } from './policy-ruling.ts'

/** `rule` is undefined where its name is cut off. */
export type NamedRule = { readonly kind: Kind; readonly policy: string; readonly rule: string | undefined }

const isKind = (kind: string | undefined): kind is Kind => kind === 'GrantPolicy' || kind === 'ClusterGrantPolicy'

/** In their order; built-in rules, checks and answers of people are left out, and so is a policy whose name is cut off. */
export function namedRules(text: string): readonly NamedRule[] {
  const parts = text.split(',')
  return parts.flatMap((part, index): readonly NamedRule[] => {
    const [kind, policy, rule] = part.split('/')
    if (!isKind(kind) || policy === undefined || rule === undefined) return []
    const mayBeCut = text.length >= maxRule && index === parts.length - 1
    return [{ kind, policy, rule: mayBeCut ? undefined : rule }]
  })
}
