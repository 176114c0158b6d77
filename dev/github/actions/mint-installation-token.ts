// Installation tokens: which repositories and permissions a request may name, how a token is issued and how it ends.
// https://docs.github.com/en/rest/apps/apps#create-an-installation-access-token-for-an-app
import { atLeast, installationSelects } from '../state/access.ts'
import type { App, Installation, PermissionLevel, Permissions } from '../state/apps.ts'
import { hours } from '../state/clock.ts'
import { type GitHubState, repositoriesOf } from '../state/github-state.ts'
import { Refusal } from '../state/refusal.ts'
import type { Repository } from '../state/repositories.ts'
import { credentialKey, newShortInstallationToken, newStatelessInstallationToken } from '../tokens/formats.ts'
import type { ActionContext } from './context.ts'

export type MintRequest = {
  /** Names without owner; `undefined` when the request has none. */
  readonly repositories: readonly string[] | undefined
  readonly repositoryIds: readonly number[] | undefined
  readonly permissions: Permissions | undefined
  /** Header `X-GitHub-Stateless-S2S-Token`. */
  readonly format: 'short' | 'stateless'
}

export type Minted = {
  readonly token: string
  readonly expiresAt: number
  readonly permissions: Permissions
  /** `null`: all of the installation. */
  readonly repositories: readonly Repository[] | null
}

const maxRepositories = 500

/** The repositories that an installation has now. */
export function repositoriesOfInstallation(state: GitHubState, installation: Installation): Repository[] {
  return repositoriesOf(state, installation.accountId).filter(one => installationSelects(installation, one))
}

/** The repositories that a request names, or `null` for all; 422 when there are too many or one is not in the installation. */
function chooseRepositories(
  context: ActionContext,
  installation: Installation,
  request: Pick<MintRequest, 'repositories' | 'repositoryIds'>,
): Repository[] | null {
  const names = request.repositories ?? []
  const ids = request.repositoryIds ?? []
  if (names.length + ids.length > maxRepositories) {
    throw new Refusal(422, `There are too many repositories specified. The maximum number of repositories is ${maxRepositories}.`)
  }
  // On GitHub an absent list and an empty one both mean everything; callers must not send an empty list by accident.
  if (names.length === 0 && ids.length === 0) return null
  const reachable = repositoriesOfInstallation(context.state, installation)
  const chosen = [
    ...names.map(name => reachable.find(one => one.name.toLowerCase() === name.toLowerCase())),
    ...ids.map(id => reachable.find(one => one.id === id)),
  ]
  const found = chosen.filter(one => one !== undefined)
  if (found.length !== chosen.length) {
    throw new Refusal(
      422,
      'There is at least one repository that does not exist or is not accessible to the parent installation.',
    )
  }
  return [...new Set(found)]
}

/** The permissions that a request names, or all of the installation; 422 when it names more than the installation has. */
function choosePermissions(installation: Installation, asked: Permissions | undefined): Permissions {
  const wanted = Object.entries(asked ?? {})
  if (wanted.length === 0) return installation.permissions
  for (const [name, level] of wanted) {
    if (level === 'none' || !atLeast(installation.permissions[name] ?? 'none', level)) {
      throw new Refusal(422, 'The permissions requested are not granted to this installation.')
    }
  }
  const chosen: Record<string, PermissionLevel> = Object.fromEntries(wanted)
  // Every token can read metadata.
  return { ...chosen, metadata: 'read' }
}

/**
 * Mints a token that is valid for one hour. Refuses with 403 when suspended and 422 when the request exceeds the installation.
 */
export function mintInstallationToken(
  context: ActionContext,
  app: App,
  installation: Installation,
  request: MintRequest,
): Minted {
  if (installation.suspendedAt !== null) throw new Refusal(403, 'This installation has been suspended')
  const asked = {
    repositories: chooseRepositories(context, installation, request),
    permissions: choosePermissions(installation, request.permissions),
  }
  const wider = context.faults.take('wider-token') !== undefined
  const repositories = wider ? null : asked.repositories
  const permissions = wider ? installation.permissions : asked.permissions
  const createdAt = context.now()
  const expiresAt = createdAt + hours(1)
  const token =
    request.format === 'stateless'
      ? newStatelessInstallationToken(
          { appId: app.id, installationId: installation.id, now: createdAt, expiresAt },
          context.signingKey,
        )
      : newShortInstallationToken()
  context.store.change(state => {
    state.credentials.accessTokens[credentialKey(token)] = {
      kind: 'installation',
      installationId: installation.id,
      repositoryIds: repositories?.map(one => one.id) ?? null,
      permissions,
      createdAt,
      expiresAt,
    }
  })
  const fresh = context.faults.take('fresh-token-refused')
  if (fresh) context.faults.refuseToken(credentialKey(token), fresh.status, fresh.uses ?? 1)
  return { token, expiresAt, permissions, repositories }
}

/** Ends every token of an installation, as uninstalling does; a suspension only refuses them while it lasts. */
export function endTokensOfInstallation(context: ActionContext, installationId: number): void {
  context.store.change(({ credentials }) => {
    for (const [key, token] of Object.entries(credentials.accessTokens)) {
      if (token.kind === 'installation' && token.installationId === installationId) delete credentials.accessTokens[key]
    }
  })
}
