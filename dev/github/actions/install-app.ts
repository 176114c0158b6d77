// Owns: the life of an installation: request, install, change of repositories, suspension, uninstall, with the webhooks each one sends.
// The caller has checked that the person administers the account (access.ts); nothing here asks again.
import type { App, Installation, InstallationRequest } from '../state/apps.ts'
import { timestamp } from '../state/clock.ts'
import { Refusal } from '../state/refusal.ts'
import type { Repository } from '../state/repositories.ts'
import { accountOf, installationOf, nextId, repositoriesOf, userOf } from '../state/world.ts'
import { simpleUser } from '../views/account.ts'
import { installationView } from '../views/app.ts'
import { minimalRepository } from '../views/repository.ts'
import type { ActionContext } from './context.ts'
import { endTokensOfInstallation, repositoriesOfInstallation } from './mint-installation-token.ts'

export type Selection = { readonly repositorySelection: 'all' | 'selected'; readonly repositoryIds: readonly number[] }

/** The short form in which installation events name repositories. */
export function briefly(context: ActionContext, repositories: readonly Repository[]) {
  return repositories.map(one => {
    const { id, node_id, name, full_name, private: isPrivate } = minimalRepository(context, one)
    return { id, node_id, name, full_name, private: isPrivate }
  })
}

function checked(context: ActionContext, accountId: number, selection: Selection): Selection {
  if (selection.repositorySelection === 'all') return { repositorySelection: 'all', repositoryIds: [] }
  const owned = new Set(repositoriesOf(context.world, accountId).map(one => one.id))
  const ids = [...new Set(selection.repositoryIds)]
  if (ids.length === 0) throw new Refusal(422, 'Select at least one repository.')
  if (ids.some(id => !owned.has(id))) throw new Refusal(422, 'A selected repository does not belong to this account.')
  return { repositorySelection: 'selected', repositoryIds: ids }
}

/** Sends an event about an installation to its App, which cannot unsubscribe from it. */
export function tellInstallation(
  context: ActionContext,
  installation: Installation,
  name: string,
  action: string,
  senderId: number,
  more: Readonly<Record<string, unknown>>,
): void {
  context.webhooks.emitTo(installation, {
    name,
    action,
    payload: {
      installation: installationView(context, installation),
      ...more,
      sender: simpleUser(context, userOf(context.world, senderId)),
    },
  })
}

/** Installs the App on an account, or answers the installation that is already there. A pending request of a member is fulfilled. */
export function installApp(
  context: ActionContext,
  app: App,
  accountId: number,
  installerId: number,
  wanted: Selection,
): Installation {
  const existing = installationOf(context.world, app.id, accountId)
  if (existing) return existing
  const selection = checked(context, accountId, wanted)
  const at = timestamp(context.now())
  const request = context.world.installationRequests.find(one => one.appId === app.id && one.accountId === accountId)
  const installation = context.store.change(world => {
    const made: Installation = {
      id: nextId(world),
      appId: app.id,
      accountId,
      repositorySelection: selection.repositorySelection,
      repositoryIds: [...selection.repositoryIds],
      permissions: app.permissions,
      events: app.events,
      createdAt: at,
      updatedAt: at,
      suspendedAt: null,
      suspendedById: null,
    }
    world.installations.push(made)
    world.installationRequests = world.installationRequests.filter(one => one !== request)
    return made
  })
  tellInstallation(context, installation, 'installation', 'created', installerId, {
    repositories: briefly(context, repositoriesOfInstallation(context.world, installation)),
    requester: request ? simpleUser(context, userOf(context.world, request.requesterId)) : null,
  })
  return installation
}

/** Files the wish of a member for the owners to see. */
export function requestInstallation(
  context: ActionContext,
  app: App,
  accountId: number,
  requesterId: number,
  wanted: Selection,
): InstallationRequest {
  const selection = checked(context, accountId, wanted)
  const pending = context.world.installationRequests.find(
    one => one.appId === app.id && one.accountId === accountId && one.requesterId === requesterId,
  )
  if (pending) return pending
  return context.store.change(world => {
    const request = {
      id: nextId(world),
      appId: app.id,
      accountId,
      requesterId,
      ...selection,
      createdAt: timestamp(context.now()),
    }
    world.installationRequests.push(request)
    return request
  })
}

/** Refuses a member's wish. */
export function dropInstallationRequest(context: ActionContext, requestId: number): void {
  context.store.change(world => {
    world.installationRequests = world.installationRequests.filter(one => one.id !== requestId)
  })
}

/** Sends `installation_repositories`. */
export function tellRepositoriesChanged(
  context: ActionContext,
  installation: Installation,
  action: 'added' | 'removed',
  repositories: readonly Repository[],
  senderId: number,
): void {
  tellInstallation(context, installation, 'installation_repositories', action, senderId, {
    repository_selection: installation.repositorySelection,
    repositories_added: action === 'added' ? briefly(context, repositories) : [],
    repositories_removed: action === 'removed' ? briefly(context, repositories) : [],
    requester: null,
  })
}

/** Changes which repositories an installation reaches; tokens lose what is taken away at once. */
export function selectRepositories(
  context: ActionContext,
  installation: Installation,
  senderId: number,
  wanted: Selection,
): void {
  const selection = checked(context, installation.accountId, wanted)
  const before = repositoriesOfInstallation(context.world, installation)
  context.store.change(() => {
    installation.repositorySelection = selection.repositorySelection
    installation.repositoryIds = [...selection.repositoryIds]
    installation.updatedAt = timestamp(context.now())
  })
  const after = repositoriesOfInstallation(context.world, installation)
  const added = after.filter(one => !before.includes(one))
  const removed = before.filter(one => !after.includes(one))
  if (added.length > 0) tellRepositoriesChanged(context, installation, 'added', added, senderId)
  if (removed.length > 0) tellRepositoriesChanged(context, installation, 'removed', removed, senderId)
}

/** Suspends or unsuspends; a suspended installation answers 403 to every use of its tokens. */
export function setSuspended(context: ActionContext, installation: Installation, senderId: number, suspended: boolean): void {
  if ((installation.suspendedAt !== null) === suspended) return
  context.store.change(() => {
    const at = timestamp(context.now())
    installation.suspendedAt = suspended ? at : null
    installation.suspendedById = suspended ? senderId : null
    installation.updatedAt = at
  })
  tellInstallation(context, installation, 'installation', suspended ? 'suspend' : 'unsuspend', senderId, {
    repositories: briefly(context, repositoriesOfInstallation(context.world, installation)),
    requester: null,
  })
}

/** Removes the installation and ends its tokens. */
export function uninstallApp(context: ActionContext, installation: Installation, senderId: number): void {
  const repositories = briefly(context, repositoriesOfInstallation(context.world, installation))
  endTokensOfInstallation(context, installation.id)
  tellInstallation(context, installation, 'installation', 'deleted', senderId, { repositories, requester: null })
  context.store.change(world => {
    world.installations = world.installations.filter(one => one !== installation)
  })
}

/** Login of the account, for pages. */
export function accountLogin(context: ActionContext, accountId: number): string {
  return accountOf(context.world, accountId).login
}
