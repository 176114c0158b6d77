// The routes about installations, for an installation token or a person's token.
// https://docs.github.com/en/rest/apps/installations
import { atLeast, installationCovers, membershipOf, permissionOn, repositoryRole } from '../../state/access.ts'
import type { User } from '../../state/accounts.ts'
import type { App, Installation } from '../../state/apps.ts'
import { organizationById, repositoriesOf } from '../../state/github-state.ts'
import { credentialKey } from '../../tokens/formats.ts'
import { installationView } from '../../views/app.ts'
import { fullRepository, permissionFlags, repositoryView } from '../../views/repository.ts'
import type { RestContext } from '../context.ts'
import { noContent, notFound, RestError } from '../protocol/answer.ts'
import { paged } from '../protocol/page.ts'
import { installationRoute, type RestRoute, type UserCall, userRoute } from '../route.ts'

/**
 * Whether the person may list the installation: own account, membership of the organization, or access to one repository.
 * This is deliberately as weak as on GitHub: being listed proves no authority.
 */
function reaches({ state }: Pick<RestContext, 'state'>, user: User, installation: Installation): boolean {
  if (installation.accountId === user.id) return true
  const organization = organizationById(state, installation.accountId)
  if (organization && membershipOf(organization, user.id)?.state === 'active') return true
  return repositoriesOf(state, installation.accountId).some(
    one => installationCovers(installation, one) && repositoryRole(state, user.id, one) !== 'none',
  )
}

function appOf(call: UserCall): App {
  if (!call.app)
    throw new RestError(
      403,
      'You must authenticate with an access token authorized to a GitHub App in order to list installations',
    )
  return call.app
}

const userInstallationRoutes: readonly RestRoute[] = [
  userRoute({
    method: 'GET',
    path: '/user/installations',
    handle: call => {
      const app = appOf(call)
      const seen = call.context.state.installations.filter(one => one.appId === app.id && reaches(call.context, call.user, one))
      return paged(
        call.paging,
        seen,
        one => installationView(call.context, one),
        (page, total) => ({ total_count: total, installations: page }),
      )
    },
  }),
  userRoute({
    method: 'GET',
    path: '/user/installations/{installation_id}/repositories',
    handle: call => {
      const app = appOf(call)
      const { context } = call
      const installation = context.state.installations.find(one => String(one.id) === call.params['installation_id'])
      if (!installation || installation.appId !== app.id || !reaches(context, call.user, installation)) throw notFound()
      const seen = repositoriesOf(context.state, installation.accountId).filter(one =>
        atLeast(permissionOn(context.state, call.actor, one, 'metadata'), 'read'),
      )
      return paged(
        call.paging,
        seen,
        one => fullRepository(context, call.actor, one),
        (page, total) => ({
          total_count: total,
          repository_selection: installation.repositorySelection,
          repositories: page,
        }),
      )
    },
  }),
]

export const installationRoutes: readonly RestRoute[] = [
  ...userInstallationRoutes,
  installationRoute({
    method: 'GET',
    path: '/installation/repositories',
    handle: call => {
      const { context, actor, installation } = call
      const seen = repositoriesOf(context.state, installation.accountId).filter(one =>
        atLeast(permissionOn(context.state, actor, one, 'metadata'), 'read'),
      )
      const show = (one: (typeof seen)[number]) => ({
        ...repositoryView(context, one),
        permissions: permissionFlags(context.state, actor, one),
      })
      return paged(call.paging, seen, show, (page, total) => ({
        total_count: total,
        repository_selection: call.token.repositoryIds === null ? installation.repositorySelection : 'selected',
        repositories: page,
      }))
    },
  }),
  installationRoute({
    method: 'DELETE',
    path: '/installation/token',
    handle: ({ context, headers }) => {
      const used = /^(?:bearer|token) (\S+)$/i.exec(String(headers['authorization'] ?? ''))?.[1]
      if (used === undefined) throw new RestError(401, 'Bad credentials')
      context.store.change(state => {
        delete state.credentials.accessTokens[credentialKey(used)]
      })
      return noContent
    },
  }),
]
