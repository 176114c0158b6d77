// Owns: the page where an administrator renames, hides, archives, gives away or deletes a repository, and where anybody with access
// forks it.
import type { FastifyInstance } from 'fastify'
import type { ActionContext } from '../../actions/context.ts'
import { changeRepository, type RepositoryChange } from '../../actions/repository/change.ts'
import { deleteRepository } from '../../actions/repository/delete.ts'
import { forkRepository } from '../../actions/repository/fork.ts'
import { transferRepository } from '../../actions/repository/transfer.ts'
import { repositoryRole } from '../../state/access.ts'
import { Refusal } from '../../state/refusal.ts'
import type { Repository } from '../../state/repositories.ts'
import { accountByLogin, fullName } from '../../state/world.ts'
import { type PageCall, type PageResult, registerPage } from '../browser.ts'
import { html } from '../html.ts'
import { buttonForm, formToken, page } from '../layout.ts'
import { repositoryOfPage } from '../repository.ts'

function administered(call: PageCall): Repository {
  const repository = repositoryOfPage(call)
  if (repositoryRole(call.context.world, call.visitor.user.id, repository) !== 'admin') {
    throw new Refusal(403, 'Only who administers this repository may change its settings.')
  }
  return repository
}

function show(call: PageCall): PageResult {
  const { visitor } = call
  const repository = repositoryOfPage(call)
  const at = `/${fullName(call.context.world, repository)}/settings`
  const admin = repositoryRole(call.context.world, visitor.user.id, repository) === 'admin'
  const fork = buttonForm(visitor, `${at}/fork`, 'Fork', {}, 'quiet')
  const own = html`<form method="post" action="${at}/rename">${formToken(visitor)}<p><label>Name <input name="name" value="${repository.name}" maxlength="100"></label> <button>Rename</button></p></form>
<form method="post" action="${at}/transfer">${formToken(visitor)}<p><label>New owner <input name="new_owner" maxlength="100"></label> <button class="danger">Transfer</button></p></form>
<p>${buttonForm(visitor, `${at}/visibility`, repository.private ? 'Make public' : 'Make private', { private: repository.private ? '0' : '1' }, 'danger')}
${buttonForm(visitor, `${at}/archive`, repository.archived ? 'Unarchive' : 'Archive', { archived: repository.archived ? '0' : '1' }, 'danger')}
${buttonForm(visitor, `${at}/delete`, 'Delete this repository', {}, 'danger')}</p>`
  return page(`Settings of ${fullName(call.context.world, repository)}`, visitor, [fork, admin ? own : undefined])
}

function change(read: (call: PageCall) => RepositoryChange) {
  return async (call: PageCall): Promise<PageResult> => {
    const repository = administered(call)
    await changeRepository(call.context, repository, call.visitor.user, read(call))
    return { redirect: `/${fullName(call.context.world, repository)}` }
  }
}

function transfer(call: PageCall): PageResult {
  const repository = administered(call)
  const newOwner = accountByLogin(call.context.world, call.posted.one('new_owner') ?? '')
  if (!newOwner) throw new Refusal(422, 'There is no such account.')
  transferRepository(call.context, repository, call.visitor.user, { newOwner, newName: undefined, teamIds: [] })
  return { redirect: `/${fullName(call.context.world, repository)}` }
}

async function remove(call: PageCall): Promise<PageResult> {
  const repository = administered(call)
  await deleteRepository(call.context, repository, call.visitor.user)
  return { redirect: '/' }
}

async function fork(call: PageCall): Promise<PageResult> {
  const { user } = call.visitor
  const wish = { owner: user, name: undefined, defaultBranchOnly: false }
  const made = await forkRepository(call.context, repositoryOfPage(call), user, wish)
  return { redirect: `/${fullName(call.context.world, made)}` }
}

const root = '/:owner/:repository/settings'

export function registerRepositorySettings(server: FastifyInstance, context: ActionContext): void {
  registerPage(server, context, 'GET', root, show)
  registerPage(
    server,
    context,
    'POST',
    `${root}/rename`,
    change(call => ({ name: call.posted.one('name') })),
  )
  registerPage(
    server,
    context,
    'POST',
    `${root}/visibility`,
    change(call => ({ private: call.posted.one('private') === '1' })),
  )
  registerPage(
    server,
    context,
    'POST',
    `${root}/archive`,
    change(call => ({ archived: call.posted.one('archived') === '1' })),
  )
  registerPage(server, context, 'POST', `${root}/transfer`, transfer)
  registerPage(server, context, 'POST', `${root}/delete`, remove)
  registerPage(server, context, 'POST', `${root}/fork`, fork)
}
