// New permissions of an App: what an installation loses at once, what its account must accept first, and the acceptance.
// https://docs.github.com/en/apps/maintaining-github-apps/modifying-a-github-app-registration
import { atLeast } from '../state/access.ts'
import type { App, Installation, Permissions } from '../state/apps.ts'
import { timestamp } from '../state/clock.ts'
import { Refusal } from '../state/refusal.ts'
import type { ActionContext } from './context.ts'
import { emitInstallation, installationDetails } from './install-app.ts'

/** Permissions that the App requests and the installation has not granted; empty when there is nothing to accept. */
export function pendingPermissions(app: App, installation: Installation): Permissions {
  return Object.fromEntries(
    Object.entries(app.permissions).filter(([name, level]) => !atLeast(installation.permissions[name] ?? 'none', level)),
  )
}

/** Changes what the App requests. Installations lose at once what it no longer requests; anything more waits to be accepted. */
export function changeAppPermissions(
  context: ActionContext,
  app: App,
  permissions: Permissions,
  events: readonly string[],
): void {
  const at = timestamp(context.now())
  context.store.change(state => {
    app.permissions = { ...permissions, metadata: 'read' }
    app.events = events
    app.updatedAt = at
    for (const installation of state.installations.filter(one => one.appId === app.id)) {
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

/** The account grants the installation everything that the App requests. */
export function acceptPermissions(context: ActionContext, app: App, installation: Installation, senderId: number): void {
  if (Object.keys(pendingPermissions(app, installation)).length === 0)
    throw new Refusal(422, 'There are no new permissions to accept.')
  context.store.change(() => {
    installation.permissions = app.permissions
    installation.events = app.events
    installation.updatedAt = timestamp(context.now())
  })
  const more = installationDetails(context, installation)
  emitInstallation(context, installation, { name: 'installation', action: 'new_permissions_accepted', senderId, more })
}
