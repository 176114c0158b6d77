// The frame around every page: title, navigation, who is signed in. Plain HTML that works without script; every control has a label.
import { type Html, html } from '../../web/html.ts'
import type { Person } from '../sessions.ts'

/** The hidden field that proves that a form was served to this person. Every form needs it. */
export function formSecret(person: Person): Html {
  return html`<input type="hidden" name="csrf" value="${person.csrf}">`
}

/** `unknown`: the session was not read, so neither sign-in nor sign-out is offered. */
function who(person: Person | 'unknown' | undefined): Html | undefined {
  if (person === 'unknown') return undefined
  if (person === undefined) return html`<a href="/login">Sign in with GitHub</a>`
  return html`<span>Signed in as <strong>${person.login}</strong></span>
<form method="post" action="/logout" class="inline">${formSecret(person)}<button class="quiet">Sign out</button></form>`
}

/** The whole document. */
export function page(options: {
  readonly title: string
  readonly person?: Person | 'unknown' | undefined
  readonly body: Html
  /** The browser reloads after so many seconds; for pages that wait for something. */
  readonly refreshSeconds?: number
}): Html {
  const { title, person, body, refreshSeconds } = options
  const refresh = refreshSeconds === undefined ? undefined : html`<meta http-equiv="refresh" content="${refreshSeconds}">`
  return html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">${refresh}
<title>${title} · Sekisho</title><link rel="stylesheet" href="/style.css"><link rel="icon" href="/icon.svg" type="image/svg+xml"></head>
<body>
<header><a class="brand" href="/">Sekisho</a><nav aria-label="Main"><a href="/">Tenants</a> <a href="/onboard">Onboard an account</a></nav>
<div class="who">${who(person)}</div></header>
<main><h1>${title}</h1>
${body}
</main>
</body>
</html>
`
}

/** `message` must be one that may reach the outside (`errorAnswer`). The log has the rest under the request id. */
export function errorPage(message: string, requestId: string, status: number): Html {
  const heading = status === 401 ? 'Sign in' : status === 404 ? 'Nothing here' : 'This did not work'
  const signIn = status === 401 ? html`<p><a class="button" href="/login">Sign in with GitHub</a></p>` : undefined
  return page({
    title: heading,
    // The session was not read for an error: a person who is signed in must not be asked to sign in.
    person: 'unknown',
    body: html`<p role="alert">${message}</p>${signIn}<p class="fine">Request ${requestId}</p>`,
  })
}
