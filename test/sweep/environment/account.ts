// An environment's own account on the shared GitHub emulator: an organisation that Olivia owns, with a repository that Dave may
// read, and the App installed on it. It is created directly in the emulator's state, as its seed is; later actions of people
// use the emulator's actions.
import { createRepository } from '../../../dev/github/actions/create-repository.ts'
import { installApp } from '../../../dev/github/actions/install-app.ts'
import type { RunningEmulator } from '../../../dev/github/emulator.ts'
import type { Organization } from '../../../dev/github/state/accounts.ts'
import type { App, Installation } from '../../../dev/github/state/apps.ts'
import { nextId, userByLogin } from '../../../dev/github/state/github-state.ts'
import type { Repository } from '../../../dev/github/state/repositories.ts'

export type Account = {
  readonly organization: Organization
  readonly installed: Installation
  readonly app: App
  /** `<organisation>/shop`, private. */
  readonly repository: Repository | undefined
}

export const people = { olivia: 1001, dave: 1002 } as const

function found<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`the emulator has no ${what}`)
  return value
}

export async function makeAccount({ context }: RunningEmulator, login: string, withRepository: boolean): Promise<Account> {
  const { state, store } = context
  const owner = found(userByLogin(state, 'olivia'), 'olivia')
  const app = found(state.apps[0], 'App')
  const organization = store.change((): Organization => {
    const made: Organization = {
      kind: 'organization',
      id: nextId(state),
      login,
      name: login,
      basePermission: 'read',
      memberships: [
        { userId: people.olivia, role: 'admin', state: 'active' },
        { userId: people.dave, role: 'member', state: 'active' },
      ],
      createdAt: '2026-01-01T00:00:00Z',
    }
    state.organizations.push(made)
    return made
  })
  const wanted = { name: 'shop', description: null, private: true, withReadme: true }
  const repository = withRepository ? await createRepository(context, organization, owner, wanted) : undefined
  const installed = installApp(context, app, {
    accountId: organization.id,
    installerId: people.olivia,
    repositorySelection: 'all',
    repositoryIds: [],
  })
  return { organization, installed, app, repository }
}
