// The lifecycle of an installation: request, install, change of repositories, suspension, uninstall, with the webhooks of each
// step. The caller has checked that the person administers the account (state/access.ts); nothing here checks it again.
import type { App, Installation, InstallationRequest } from '../state/apps.ts'
import { timestamp } from '../state/clock.ts'
import { accountOf, installationOf, nextId, repositoriesOf, userOf } from '../state/github-state.ts'
import { Refusal } from '../state/refusal.ts'
import type { Repository } from '../state/repositories.ts'
import { simpleUser } from '../views/account.ts'
import { installationView } from '../views/app.ts'
import { minimalRepository } from '../views/repository.ts'
import type { ActionContext } from './context.ts'
import { endTokensOfInstallation, repositoriesOfInstallation } from './mint-installation-token.ts'

export type Selection = { readonly repositorySelection: 'all' | 'selected'; readonly repositoryIds: readonly number[] }

/** The short form in which installation events name repositories. */
function repositoriesInShort(context: ActionContext, repositories: readonly Repository[]) {
  return repositories.map(one => {
    const { id, node_id, name, full_name, private: isPrivate } = minimalRepository(context, one)
    return { id, node_id, name, full_name, private: isPrivate }
  })
}

function checked(context: ActionContext, accountId: number, selection: Selection): Selection {
  if (selection.repositorySelection === 'all') return { repositorySelection: 'all', repositoryIds: [] }
  const owned = new Set(repositoriesOf(context.state, accountId).map(one => one.id))
  const ids = [...new Set(selection.repositoryIds)]
  if (ids.length === 0) throw new Refusal(422, 'Select at least one repository.')
  if (ids.some(id => !owned.has(id))) throw new Refusal(422, 'A selected repository does not belong to this account.')
  return { repositorySelection: 'selected', repositoryIds: ids }
}

type InstallationEvent = {
  readonly name: string
  readonly action: string
  readonly senderId: number
  /** Additional fields of the payload. */
  readonly more: Readonly<Record<string, unknown>>
}

/** Sends an event about an installation to its App, which cannot unsubscribe from it. */
export function emitInstallation(context: ActionContext, installation: Installation, event: InstallationEvent): void {
  context.webhooks.emitTo(installation, {
    name: event.name,
    action: event.action,
    payload: {
      installation: installationView(context, installation),
      ...event.more,
      sender: simpleUser(context, userOf(context.state, event.senderId)),
    },
  })
}

/**
 * Additional fields of `installation` events: the repositories of the installation, and who requested it, if it was requested.
 */
export function installationDetails(context: ActionContext, installation: Installation, requesterId?: number) {
  return {
    repositories: repositoriesInShort(context, repositoriesOfInstallation(context.state, installation)),
    requester: requesterId === undefined ? null : simpleUser(context, userOf(context.state, requesterId)),
  }
}

/** Installs the App on an account, or returns the installation that exists. Fulfils the pending request of a member. */
export function installApp(
  context: ActionContext,
  app: App,
  wanted: Selection & { readonly accountId: number; readonly installerId: number },
): Installation {
  const { accountId, installerId } = wanted
  const existing = installationOf(context.state, app.id, accountId)
  if (existing) return existing
  const selection = checked(context, accountId, wanted)
  const at = timestamp(context.now())
  const request = context.state.installationRequests.find(one => one.appId === app.id && one.accountId === accountId)
  const installation = context.store.change(state => {
    const made: Installation = {
      id: nextId(state),
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
    state.installations.push(made)
    state.installationRequests = state.installationRequests.filter(one => one !== request)
    return made
  })
  const more = installationDetails(context, installation, request?.requesterId)
  emitInstallation(context, installation, { name: 'installation', action: 'created', senderId: installerId, more })
  return installation
}

/** Records the request of a member for the owners; a second request of the same person changes nothing. */
export function requestInstallation(
  context: ActionContext,
  app: App,
  wanted: Selection & { readonly accountId: number; readonly requesterId: number },
): InstallationRequest {
  const { accountId, requesterId } = wanted
  const selection = checked(context, accountId, wanted)
  const pending = context.state.installationRequests.find(
    one => one.appId === app.id && one.accountId === accountId && one.requesterId === requesterId,
  )
  if (pending) return pending
  return context.store.change(state => {
    const request = {
      id: nextId(state),
      appId: app.id,
      accountId,
      requesterId,
      ...selection,
      createdAt: timestamp(context.now()),
    }
    state.installationRequests.push(request)
    return request
  })
}

/** Denies a member's request. */
export function dropInstallationRequest(context: ActionContext, requestId: number): void {
  context.store.change(state => {
    state.installationRequests = state.installationRequests.filter(one => one.id !== requestId)
  })
}

/** Sends `installation_repositories`. */
export function emitRepositoriesChanged(
  context: ActionContext,
  installation: Installation,
  change: { readonly action: 'added' | 'removed'; readonly repositories: readonly Repository[] },
  senderId: number,
): void {
  const repositories = repositoriesInShort(context, change.repositories)
  emitInstallation(context, installation, {
    name: 'installation_repositories',
    action: change.action,
    senderId,
    more: {
      repository_selection: installation.repositorySelection,
      repositories_added: change.action === 'added' ? repositories : [],
      repositories_removed: change.action === 'removed' ? repositories : [],
      requester: null,
    },
  })
}

/** Changes which repositories an installation reaches; its tokens lose the removed ones at once. */
export function selectRepositories(
  context: ActionContext,
  installation: Installation,
  senderId: number,
  wanted: Selection,
): void {
  const selection = checked(context, installation.accountId, wanted)
  const before = repositoriesOfInstallation(context.state, installation)
  context.store.change(() => {
    installation.repositorySelection = selection.repositorySelection
    installation.repositoryIds = [...selection.repositoryIds]
    installation.updatedAt = timestamp(context.now())
  })
  const after = repositoriesOfInstallation(context.state, installation)
  const added = after.filter(one => !before.includes(one))
  const removed = before.filter(one => !after.includes(one))
  if (added.length > 0) emitRepositoriesChanged(context, installation, { action: 'added', repositories: added }, senderId)
  if (removed.length > 0) emitRepositoriesChanged(context, installation, { action: 'removed', repositories: removed }, senderId)
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
  const more = installationDetails(context, installation)
  emitInstallation(context, installation, { name: 'installation', action: suspended ? 'suspend' : 'unsuspend', senderId, more })
}

/** Removes the installation and ends its tokens. */
export function uninstallApp(context: ActionContext, installation: Installation, senderId: number): void {
  const more = installationDetails(context, installation)
  endTokensOfInstallation(context, installation.id)
  emitInstallation(context, installation, { name: 'installation', action: 'deleted', senderId, more })
  context.store.change(state => {
    state.installations = state.installations.filter(one => one !== installation)
  })
}

/** Login of the account, for pages. */
export function accountLogin(context: ActionContext, accountId: number): string {
  return accountOf(context.state, accountId).login
}
