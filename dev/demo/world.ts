// What every chapter of the demo shares: addresses, tools, people, and what earlier chapters found out.
import type { Person, ToolPaths } from './tools.ts'

export type World = {
  readonly tools: ToolPaths
  readonly githubWeb: string
  readonly ingressPort: number
  readonly repository: string
  readonly certificateAuthority: string
  readonly personalTokens: Readonly<Record<string, string>>
  readonly people: { readonly [login in 'olivia' | 'dave' | 'noah' | 'ada']: Person }
  /** Commits of acme/shop that were pushed, in order. */
  readonly pushed: string[]
}

export const applicationName = 'shop'
export const tenantNamespace = 'acme'
