// What the pages about installations share: the choice of repositories in a form, and the URL to which the browser returns.
import type { Selection } from '../actions/install-app.ts'
import type { App } from '../state/apps.ts'
import type { Repository } from '../state/repositories.ts'
import type { View } from '../views/view.ts'
import type { Posted } from './browser.ts'
import { type Html, html } from './html.ts'

function checked(yes: boolean): Html | undefined {
  return yes ? html` checked` : undefined
}

/** Fields `repository_selection` and `repository_ids`. */
export function repositoryChoice(repositories: readonly Repository[], now: Selection): Html {
  return html`<fieldset><legend>Repository access</legend>
<p><label><input type="radio" name="repository_selection" value="all"${checked(now.repositorySelection === 'all')}> All repositories</label></p>
<p><label><input type="radio" name="repository_selection" value="selected"${checked(now.repositorySelection === 'selected')}> Only select repositories</label></p>
<ul>${repositories.map(
    one =>
      html`<li><label><input type="checkbox" name="repository_ids" value="${one.id}"${checked(now.repositoryIds.includes(one.id))}> ${one.name}${one.private ? ' (private)' : ''}</label></li>`,
  )}</ul></fieldset>`
}

/** Reads the choice of repositories from a posted form. */
export function selectionOf(posted: Posted): Selection {
  const repositorySelection = posted.one('repository_selection') === 'all' ? 'all' : 'selected'
  const repositoryIds = posted
    .all('repository_ids')
    .filter(id => /^\d{1,15}$/.test(id))
    .map(Number)
  return { repositorySelection, repositoryIds }
}

type ReturnParameters = Readonly<Record<string, string | undefined>>

/**
 * The URL to return to, with every parameter that has a value. With "Request user authorization during installation" it is the
 * first callback URL, otherwise the setup URL, otherwise the App's own page.
 */
export function afterInstall(context: Pick<View, 'links'>, app: App, parameters: ReturnParameters): string {
  const [callback] = app.callbackUrls
  const target = app.requestOAuthOnInstall ? callback : (app.setupUrl ?? undefined)
  if (target === undefined) return new URL(context.links.appPage(app.slug)).pathname
  const url = new URL(target)
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) url.searchParams.set(name, value)
  return url.toString()
}
