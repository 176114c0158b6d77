// What all steps of the demo share: addresses, tools, users, and results of earlier steps.
import type { Person, ToolPaths } from './tools.ts'

export type DemoContext = {
  readonly tools: ToolPaths
  readonly githubWeb: string
  readonly githubApi: string
  /** An image with Node.js from which Dockerfiles can begin. */
  readonly baseImage: string
  readonly ingressPort: number
  readonly repository: string
  readonly certificateAuthority: string
  readonly personalTokens: Readonly<Record<string, string>>
  readonly people: { readonly [login in 'olivia' | 'dave' | 'mia' | 'gary' | 'noah' | 'ada']: Person }
  /** Commits of acme/shop that were pushed, in order. */
  readonly pushed: string[]
  /** The title of the page in the last one: text that is in its source only. */
  title: string
}

export const applicationName = 'shop'
export const tenantNamespace = 'acme'
/** The other tenant, of whose attacks the demo shows three. */
export const neighbourNamespace = 'globex'
