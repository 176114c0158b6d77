// The page on which an administrator renames, hides, archives, transfers or deletes a repository, and a person with access
// forks it.
import type { FastifyInstance } from 'fastify'
import type { ActionContext } from '../../actions/context.ts'
import { changeRepository, type RepositoryChange } from '../../actions/repository/change.ts'
import { deleteRepository } from '../../actions/repository/delete.ts'
import { forkRepository } from '../../actions/repository/fork.ts'
import { transferRepository } from '../../actions/repository/transfer.ts'
import { repositoryRole } from '../../state/access.ts'
import { accountByLogin, fullName } from '../../state/github-state.ts'
import { Refusal } from '../../state/refusal.ts'
import type { Repository } from '../../state/repositories.ts'
import { type PageCall, type PageResult, pagesOf } from '../browser.ts'
import { html } from '../html.ts'
import { buttonForm, formToken, page } from '../layout.ts'
import { actionOf, repositoryOfPage } from '../repository.ts'

function administered(call: PageCall): Repository {
  const repository = repositoryOfPage(call)
  if (repositoryRole(call.context.state, call.visitor.user.id, repository) !== 'admin') {
    throw new Refusal(403, 'Only administrators of this repository can change its settings.')
  }
  return repository
}

function show(call: PageCall): PageResult {
  const { visitor } = call
  const repository = repositoryOfPage(call)
  const at = `/${fullName(call.context.state, repository)}/settings`
  const admin = repositoryRole(call.context.state, visitor.user.id, repository) === 'admin'
  const fork = buttonForm(visitor, `${at}/fork`, 'Fork', { look: 'quiet' })
  const own = html`<form method="post" action="${at}/rename">${formToken(visitor)}<p><label>Name <input name="name" value="${repository.name}" maxlength="100"></label> <button>Rename</button></p></form>
<form method="post" action="${at}/transfer">${formToken(visitor)}<p><label>New owner <input name="new_owner" maxlength="100"></label> <button class="danger">Transfer</button></p></form>
<p>${buttonForm(visitor, `${at}/visibility`, repository.private ? 'Make public' : 'Make private', { fields: { private: repository.private ? '0' : '1' }, look: 'danger' })}
${buttonForm(visitor, `${at}/archive`, repository.archived ? 'Unarchive' : 'Archive', { fields: { archived: repository.archived ? '0' : '1' }, look: 'danger' })}
${buttonForm(visitor, `${at}/delete`, 'Delete this repository', { look: 'danger' })}</p>`
  return page(`Settings of ${fullName(call.context.state, repository)}`, visitor, [fork, admin ? own : undefined])
}

function change(read: (call: PageCall) => RepositoryChange) {
  return async (call: PageCall): Promise<PageResult> => {
    const repository = administered(call)
    await changeRepository(actionOf(call, repository), read(call))
    return { redirect: `/${fullName(call.context.state, repository)}` }
  }
}

function transfer(call: PageCall): PageResult {
  const repository = administered(call)
  const newOwner = accountByLogin(call.context.state, call.posted.one('new_owner') ?? '')
  if (!newOwner) throw new Refusal(422, 'There is no such account.')
  transferRepository(actionOf(call, repository), { newOwner, newName: undefined, teamIds: [] })
  return { redirect: `/${fullName(call.context.state, repository)}` }
}

async function remove(call: PageCall): Promise<PageResult> {
  const repository = administered(call)
  await deleteRepository(actionOf(call, repository))
  return { redirect: '/' }
}

async function fork(call: PageCall): Promise<PageResult> {
  const wanted = { owner: call.visitor.user, name: undefined, defaultBranchOnly: false }
  const made = await forkRepository(actionOf(call, repositoryOfPage(call)), wanted)
  return { redirect: `/${fullName(call.context.state, made)}` }
}

const root = '/:owner/:repository/settings'

export function registerRepositorySettings(server: FastifyInstance, context: ActionContext): void {
  const pages = pagesOf(server, context)
  pages.get(root, show)
  pages.post(
    `${root}/rename`,
    change(call => ({ name: call.posted.one('name') })),
  )
  pages.post(
    `${root}/visibility`,
    change(call => ({ private: call.posted.one('private') === '1' })),
  )
  pages.post(
    `${root}/archive`,
    change(call => ({ archived: call.posted.one('archived') === '1' })),
  )
  pages.post(`${root}/transfer`, transfer)
  pages.post(`${root}/delete`, remove)
  pages.post(`${root}/fork`, fork)
}
