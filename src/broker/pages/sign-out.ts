// The pages of signing out: in this browser, or everywhere. Pure.
import { type Html, html } from '../../web/html.ts'
import type { Person } from '../sessions.ts'
import { formSecret, page } from './layout.ts'

/** Offers both. */
export function signOutPage(person: Person): Html {
  return page({
    title: 'Sign out?',
    person,
    body: html`<form method="post" action="/logout">${formSecret(person)}<button>Sign out of this browser</button></form>
<h2>Everywhere</h2>
<p>Ends all your sign-ins: in every browser, and of <code>kubectl</code> and <code>sekisho</code> on every computer. Use it when a computer was
lost or somebody else may have used your account. Access tokens that were issued before work for ten minutes at most.</p>
<form method="post" action="/logout/everywhere">${formSecret(person)}<button>Sign out everywhere</button></form>`,
  })
}

/** After `Sign out everywhere`, when no session is left. */
export function signedOutEverywherePage(): Html {
  return page({
    title: 'Signed out everywhere',
    body: html`<p>All your sign-ins have ended. Access tokens that were issued before work for ten minutes at most.</p>
<p>If somebody else may have used your GitHub account, review it on GitHub as well: they can sign in here again with it.</p>`,
  })
}
