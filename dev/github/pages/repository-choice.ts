// Owns: the fieldset in which one picks all or some repositories. Pure.
import type { Selection } from '../actions/install-app.ts'
import type { Repository } from '../state/repositories.ts'
import { type Html, html } from './html.ts'

const checked = (yes: boolean): Html | undefined => (yes ? html` checked` : undefined)

/** Fields `repository_selection` and `repository_ids`. */
export const repositoryChoice = (
  repositories: readonly Repository[],
  now: Selection,
): Html => html`<fieldset><legend>Repository access</legend>
<p><label><input type="radio" name="repository_selection" value="all"${checked(now.repositorySelection === 'all')}> All repositories</label></p>
<p><label><input type="radio" name="repository_selection" value="selected"${checked(now.repositorySelection === 'selected')}> Only select repositories</label></p>
<ul>${repositories.map(
  one =>
    html`<li><label><input type="checkbox" name="repository_ids" value="${one.id}"${checked(now.repositoryIds.includes(one.id))}> ${one.name}${one.private ? ' (private)' : ''}</label></li>`,
)}</ul></fieldset>`
