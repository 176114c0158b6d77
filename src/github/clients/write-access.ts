// Whether a person may write to a repository, asked of GitHub at this moment and by numeric id. `author_association` of
// comments says something else: a member of the organisation need not have access to this repository.
// Source: https://docs.github.com/en/rest/collaborators/collaborators#get-repository-permissions-for-a-user
import type { RepositoryClient, RepositoryPermission } from './repository-client.ts'

const writing: readonly RepositoryPermission[] = ['write', 'maintain', 'admin']

/** What is asked: the person by id, and then the permission under the person's present login. */
export type AccessReader = Pick<RepositoryClient, 'userById' | 'collaboratorPermission'>

/**
 * The person with the present login when GitHub says that they may write to the repository; undefined otherwise, and when the
 * account is gone or its login passed to another account between the two requests. Throws AppError as the client does.
 */
export async function writerById(
  client: AccessReader,
  repositoryId: number,
  personId: number,
): Promise<{ readonly id: number; readonly login: string } | undefined> {
  const person = await client.userById(personId)
  if (person === undefined || person.id !== personId) return undefined
  const { permission, userId } = await client.collaboratorPermission(repositoryId, person.login)
  return userId === personId && writing.includes(permission) ? person : undefined
}
