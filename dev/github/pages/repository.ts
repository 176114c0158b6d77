// The pages of a repository for a person with access: branches, commits, pull requests, statuses and deployments.
import type { FastifyInstance } from 'fastify'
import type { ActionContext, RepositoryAction } from '../actions/context.ts'
import { canSee, mayUse } from '../state/access.ts'
import { fullName, repositoryByFormerName, repositoryByName, userOf } from '../state/github-state.ts'
import { Refusal } from '../state/refusal.ts'
import type { Repository } from '../state/repositories.ts'
import { type PageCall, type PageResult, pagesOf } from './browser.ts'
import { type Html, html } from './html.ts'
import { formToken, page, table } from './layout.ts'

/** The repository of the path, also by a former name; 404 for a visitor who cannot see it. */
export function repositoryOfPage({ context, params, visitor }: PageCall): Repository {
  const [owner = '', name = ''] = [params['owner'], params['repository']]
  const repository = repositoryByName(context.state, owner, name) ?? repositoryByFormerName(context.state, owner, name)
  if (!repository || !canSee(context.state, { kind: 'person', user: visitor.user }, repository)) {
    throw new Refusal(404, 'There is no such repository, or you cannot see it.')
  }
  return repository
}

/** The visitor's action in the repository. */
export function actionOf({ context, visitor }: PageCall, repository: Repository): RepositoryAction {
  return { context, repository, sender: visitor.user }
}

/** Refuses to write to an archived repository. */
export function requireNotArchived(repository: Repository): void {
  if (repository.archived) throw new Refusal(403, 'This repository was archived so it is read-only.')
}

/** Refuses a visitor who cannot push. */
export function requirePush({ context, visitor }: PageCall, repository: Repository): void {
  requireNotArchived(repository)
  if (!mayUse(context.state, { kind: 'person', user: visitor.user }, repository, { permission: 'contents', level: 'write' })) {
    throw new Refusal(403, 'You can read this repository but not write to it.')
  }
}

/** Latest status per context of a commit. */
export function statusList(context: ActionContext, repository: Repository, sha: string): Html {
  const all = context.state.statuses.filter(one => one.repositoryId === repository.id && one.sha === sha).reverse()
  const latest = all.filter((one, at) => all.findIndex(other => other.context === one.context) === at)
  return html`<ul>${latest.map(
    one =>
      html`<li><strong>${one.state}</strong> ${one.context}: ${one.targetUrl ? html`<a href="${one.targetUrl}">${one.description ?? one.targetUrl}</a>` : (one.description ?? '')}</li>`,
  )}</ul>`
}

function deployments(context: ActionContext, repository: Repository): Html {
  const found = context.state.deployments
    .filter(one => one.repositoryId === repository.id)
    .slice(-20)
    .reverse()
  const rows = found.map(one => {
    const latest = context.state.deploymentStatuses.filter(status => status.deploymentId === one.id).at(-1)
    const link = latest?.environmentUrl ? html`<a href="${latest.environmentUrl}">${latest.environmentUrl}</a>` : ''
    return [one.environment, one.sha.slice(0, 7), latest?.state ?? 'pending', link, userOf(context.state, one.creatorId).login]
  })
  return table(['Environment', 'Commit', 'State', 'Address', 'By'], rows)
}

async function overview(call: PageCall): Promise<PageResult> {
  const { context, visitor } = call
  const repository = repositoryOfPage(call)
  const name = fullName(context.state, repository)
  if (!repositoryByName(context.state, call.params['owner'] ?? '', call.params['repository'] ?? ''))
    return { redirect: `/${name}` }
  const heads = await context.git.refs(repository.id, 'refs/heads/')
  const branches = [...heads].map(([ref, sha]) => {
    const branch = ref.slice('refs/heads/'.length)
    return [
      html`<a href="/${name}/commits/${branch}">${branch}</a>`,
      html`<code>${sha.slice(0, 7)}</code>`,
      statusList(context, repository, sha),
    ]
  })
  return page(
    name,
    visitor,
    html`<p>${repository.description ?? ''} ${repository.private ? '(private)' : ''}</p><p>Clone: <code>${context.links.web(`/${name}.git`)}</code></p>
${repository.archived ? html`<p class="flash">This repository was archived. It is read-only.</p>` : undefined}
<p><a href="/${name}/pulls">Pull requests</a>, <a href="/${name}/settings">Settings</a></p><h2>Branches</h2>${table(['Branch', 'Commit', 'Statuses'], branches)}
<h2>Deployments</h2>${deployments(context, repository)}`,
  )
}

async function commits(call: PageCall): Promise<PageResult> {
  const { context, visitor, params } = call
  const repository = repositoryOfPage(call)
  const ref = params['*'] ?? ''
  const sha = await context.git.resolve(repository.id, ref)
  if (sha === undefined) throw new Refusal(404, 'There is no such branch or commit.')
  const rows = (await context.git.commits(repository.id, undefined, sha, 50)).map(one => [
    html`<a href="/${fullName(context.state, repository)}/commit/${one.sha}"><code>${one.sha.slice(0, 7)}</code></a>`,
    one.message.split('\n')[0],
    one.author.name,
    one.author.date,
    statusList(context, repository, one.sha),
  ])
  return page(
    `${fullName(context.state, repository)}: ${ref}`,
    visitor,
    table(['Commit', 'Message', 'Author', 'Date', 'Statuses'], rows),
  )
}

async function commit(call: PageCall): Promise<PageResult> {
  const { context, visitor, params } = call
  const repository = repositoryOfPage(call)
  const sha = await context.git.resolve(repository.id, params['sha'] ?? '')
  if (sha === undefined) throw new Refusal(404, 'There is no such commit.')
  const found = await context.git.commit(repository.id, sha)
  return page(
    `Commit ${sha.slice(0, 7)}`,
    visitor,
    html`<pre>${found.message}</pre><p>${found.author.name}, ${found.author.date}</p><p><code>${sha}</code></p><h2>Statuses</h2>${statusList(context, repository, sha)}`,
  )
}

function pulls(call: PageCall): PageResult {
  const { context, visitor } = call
  const repository = repositoryOfPage(call)
  const name = fullName(context.state, repository)
  const rows = context.state.pullRequests
    .filter(one => one.repositoryId === repository.id)
    .reverse()
    .map(one => [
      html`<a href="/${name}/pull/${one.number}">#${one.number} ${one.title}</a>`,
      one.mergedAt === null ? one.state : 'merged',
      `${one.head.ref} → ${one.base.ref}`,
      userOf(context.state, one.authorId).login,
    ])
  return page(
    `${name}: pull requests`,
    visitor,
    html`${table(['Pull request', 'State', 'Branches', 'By'], rows)}<h2>Open a pull request</h2>
<form method="post" action="/${name}/pulls">${formToken(visitor)}<p><label>Head branch <input name="head" required maxlength="255"></label>
<label>Base branch <input name="base" value="${repository.defaultBranch}" required maxlength="255"></label></p>
<p><label>Title <input name="title" required maxlength="256"></label></p><p><label>Text <textarea name="body" maxlength="65536"></textarea></label></p>
<p><label><input type="checkbox" name="draft" value="1"> Draft</label></p><button>Create pull request</button></form>`,
  )
}

export function registerRepositoryPages(server: FastifyInstance, context: ActionContext): void {
  const pages = pagesOf(server, context)
  pages.get('/:owner/:repository', overview)
  pages.get('/:owner/:repository/commits/*', commits)
  pages.get('/:owner/:repository/commit/:sha', commit)
  pages.get('/:owner/:repository/pulls', pulls)
}
