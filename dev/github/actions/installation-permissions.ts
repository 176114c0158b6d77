// Owns: new permissions of an App: what an installation loses at once, what its account must accept first, and the acceptance.
// https://docs.github.com/en/apps/maintaining-github-apps/modifying-a-github-app-registration
import { atLeast } from '../state/access.ts'
import type { App, Installation, Permissions } from '../state/apps.ts'
import { timestamp } from '../state/clock.ts'
import { Refusal } from '../state/refusal.ts'
import type { ActionContext } from './context.ts'
import { briefly, tellInstallation } from './install-app.ts'
import { repositoriesOfInstallation } from './mint-installation-token.ts'

/** Permissions that the App wants by now and the installation has not given; empty when there is nothing to accept. */
export function pendingPermissions(app: App, installation: Installation): Permissions {
  return Object.fromEntries(
    Object.entries(app.permissions).filter(([name, level]) => !atLeast(installation.permissions[name] ?? 'none', level)),
  )
}

/** Changes what the App asks for. Installations lose at once what it no longer wants; anything more waits to be accepted. */
export function changeAppPermissions(
  context: ActionContext,
  app: App,
  permissions: Permissions,
  events: readonly string[],
): void {
  const at = timestamp(context.now())
  context.store.change(world => {
    app.permissions = { ...permissions, metadata: 'read' }
    app.events = events
    app.updatedAt = at
    for (const installation of world.installations.filter(one => one.appId === app.id)) {
      const kept = Object.entries(installation.permissions).flatMap(([name, level]) => {
        const wanted = app.permissions[name]
        if (wanted === undefined) return []
        return [[name, atLeast(wanted, level) ? level : wanted] as const]
      })
      installation.permissions = Object.fromEntries(kept)
      installation.updatedAt = at
    }
  })
}

/** The account gives the installation everything that the App asks for. */
export function acceptPermissions(context: ActionContext, app: App, installation: Installation, senderId: number): void {
  if (Object.keys(pendingPermissions(app, installation)).length === 0)
    throw new Refusal(422, 'There are no new permissions to accept.')
  context.store.change(() => {
    installation.permissions = app.permissions
    installation.events = app.events
    installation.updatedAt = timestamp(context.now())
  })
  tellInstallation(context, installation, 'installation', 'new_permissions_accepted', senderId, {
    repositories: briefly(context, repositoriesOfInstallation(context.world, installation)),
    requester: null,
  })
}
