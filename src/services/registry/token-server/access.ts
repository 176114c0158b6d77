// Who may do what in the registry. Pure. A tenant's builds write below the tenant's own path only and read the platform's
// images; its pods read below the tenant's own path; kpack writes the platform's images. Nobody lists repositories, and what is
// not named here is refused.
import type { Holder } from '../credentials.ts'
import { isBelow, type RepositoryAccess, type RepositoryAction } from '../repository.ts'

/** Where images are, as paths inside the registry without a slash at either end. */
export type RegistryLayout = {
  /** The tenants' images are below `<tenants>/<namespace>`; empty for the root of the registry. */
  readonly tenants: string
  /** Images of the platform: builder, stack and buildpacks. */
  readonly platform: readonly string[]
}

/** The path of a tenant's images. */
export function tenantPath({ tenants }: RegistryLayout, namespace: string): string {
  return tenants === '' ? namespace : `${tenants}/${namespace}`
}

/**
 * False when a namespace could have the name of a platform path: its tenant would then own the platform's images, or lose its
 * own. With a path for tenants that no platform path touches, this cannot happen, whatever tenants are called.
 */
export function isDisjoint({ tenants, platform }: RegistryLayout): boolean {
  if (platform.length === 0) return true
  return tenants !== '' && platform.every(path => !isBelow(path, tenants) && !isBelow(tenants, path))
}

function allowed(holder: Holder, name: string, layout: RegistryLayout): readonly RepositoryAction[] {
  const ofPlatform = layout.platform.some(path => isBelow(name, path))
  if (holder.purpose === 'platform') return ofPlatform ? ['pull', 'push', 'delete'] : []
  const own = tenantPath(layout, holder.namespace)
  // Below the path, not the path itself: a repository always has a name of its own there.
  const isOwn = name !== own && isBelow(name, own)
  if (holder.purpose === 'pull') return isOwn ? ['pull'] : []
  // The lifecycle deletes the cache image that it replaces.
  if (isOwn) return ['pull', 'push', 'delete']
  return ofPlatform ? ['pull'] : []
}

/** What of the asked access is allowed; an entry of which nothing is allowed is left out. */
export function allowedAccess(
  holder: Holder,
  asked: readonly RepositoryAccess[],
  layout: RegistryLayout,
): readonly RepositoryAccess[] {
  return asked.flatMap(({ type, name, actions }) => {
    const may = allowed(holder, name, layout)
    const granted = actions.filter(action => may.includes(action))
    return granted.length === 0 ? [] : [{ type, name, actions: granted }]
  })
}
