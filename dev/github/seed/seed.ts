// The declarative description of an initial GitHub. Its ids are explicit, so that a seed always means the same; they stay below
// 100000. It never holds a secret: keys and tokens are generated when the seed is applied.
import type { RepositoryRole } from '../state/accounts.ts'
import type { Permissions } from '../state/apps.ts'

export type Seed = {
  readonly users: readonly { readonly id: number; readonly login: string; readonly name: string }[]
  readonly organizations: readonly {
    readonly id: number
    readonly login: string
    readonly name: string
    readonly basePermission: 'none' | 'read' | 'write' | 'admin'
    readonly owners: readonly string[]
    readonly members: readonly string[]
  }[]
  readonly teams: readonly {
    readonly id: number
    readonly organization: string
    readonly slug: string
    readonly name: string
    readonly parent?: string
    readonly members: readonly string[]
    /** Repository name → role. */
    readonly repositories: Readonly<Record<string, RepositoryRole>>
  }[]
  readonly repositories: readonly {
    readonly id: number
    readonly owner: string
    readonly name: string
    readonly private: boolean
    readonly description: string
    /** Path → text, for the first commit. */
    readonly files: Readonly<Record<string, string>>
    readonly collaborators?: Readonly<Record<string, RepositoryRole>>
  }[]
  readonly apps: readonly {
    readonly id: number
    readonly botId: number
    readonly slug: string
    readonly name: string
    readonly description: string
    readonly owner: string
    readonly requestOAuthOnInstall: boolean
    readonly permissions: Permissions
    readonly events: readonly string[]
  }[]
}
