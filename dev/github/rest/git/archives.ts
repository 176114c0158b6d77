// The routes for an archive of a commit: a redirect to a URL that is valid for five minutes.
// https://docs.github.com/en/rest/repos/contents#download-a-repository-archive-tar
import { minutes } from '../../state/clock.ts'
import { fullName } from '../../state/github-state.ts'
import { credentialKey, newArchiveTicket } from '../../tokens/formats.ts'
import { notFound, type RestAnswer } from '../protocol/answer.ts'
import { type RepositoryCall, type RestRoute, repositoryRoute } from '../route.ts'

const ticketLife = minutes(5)

function lead(format: 'legacy.tar.gz' | 'legacy.zip') {
  return async (call: RepositoryCall): Promise<RestAnswer> => {
    const { context, repository, params } = call
    const sha = await context.git.resolve(repository.id, params['ref'] ?? '')
    if (sha === undefined) throw notFound()
    const ticket = newArchiveTicket()
    context.store.change(({ credentials }) => {
      credentials.archiveTickets[credentialKey(ticket)] = { repositoryId: repository.id, expiresAt: context.now() + ticketLife }
    })
    const location = context.links.web(`/_codeload/${fullName(context.state, repository)}/${format}/${sha}?token=${ticket}`)
    return { status: 302, headers: { location } }
  }
}

const reading = { permission: 'contents', level: 'read' } as const
const root = '/repos/{owner}/{repo}'

export const archiveRoutes: readonly RestRoute[] = [
  repositoryRoute(reading, { method: 'GET', path: `${root}/tarball/{ref}`, greedy: true, handle: lead('legacy.tar.gz') }),
  repositoryRoute(reading, { method: 'GET', path: `${root}/zipball/{ref}`, greedy: true, handle: lead('legacy.zip') }),
]
