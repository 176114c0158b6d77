// The frame around every page: title, navigation, who is signed in. Plain HTML that works without script; every control has a
// label.
import { type Html, html } from '../../web/html.ts'
import type { Person } from '../sessions.ts'
import { refreshScript } from './refresh-script.ts'

/**
 * A page that shows how things are now: the script of `refresh-script.ts` keeps it so, and without scripts the browser loads it
 * again.
 */
export type Live = {
  /** How often the script asks. */
  readonly seconds: number
  /** How often a browser without scripts loads the page again; not at all when omitted. */
  readonly reloadSeconds?: number
  /** How things are, in a sentence of the page: it is announced to people who do not see the page, whenever it changes. */
  readonly summary: string
}

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

function headOfLive({ reloadSeconds }: Live): Html {
  const reload = reloadSeconds === undefined ? undefined : html`<meta http-equiv="refresh" content="${reloadSeconds}">`
  return html`<noscript>${reload}</noscript>
<script src="${refreshScript.path}" integrity="${refreshScript.integrity}" defer></script>`
}

/** Of a page that shows how things are now, the script fills the status and adds a button that stops it. */
function foot(isLive: boolean): Html {
  const live = html`<a href="">Load this page again</a> <span id="live-status" role="status" aria-live="polite"></span>`
  return html`<footer>${isLive && live} <a href="#main">Back to the top</a></footer>`
}

/** The whole document. */
export function page(options: {
  readonly title: string
  readonly person?: Person | 'unknown' | undefined
  readonly body: Html
  /** The browser reloads after so many seconds; for pages that wait for something and then lead elsewhere. */
  readonly refreshSeconds?: number
  readonly live?: Live
}): Html {
  const { title, person, body, refreshSeconds, live } = options
  const refresh = refreshSeconds === undefined ? undefined : html`<meta http-equiv="refresh" content="${refreshSeconds}">`
  return html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">${refresh}${live && headOfLive(live)}
<title>${title} · Sekisho</title><link rel="stylesheet" href="/style.css"><link rel="icon" href="/icon.svg" type="image/svg+xml"></head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header><a class="brand" href="/">Sekisho</a><nav aria-label="Main"><a href="/">Tenants</a> <a href="/onboard">Onboard an account</a></nav>
<div class="who">${who(person)}</div></header>
<main id="main" tabindex="-1"${live && html` data-refresh="${live.seconds}" data-summary="${live.summary}"`}><h1>${title}</h1>
${body}
</main>
${foot(live !== undefined)}
</body>
</html>
`
}

/** Messages name the page on which people begin again by its path: here it becomes a link. The rest stays text. */
function withLink(message: string): Html {
  const path = '/onboard'
  if (!message.includes(` at ${path}`)) return html`${message}`
  const [before = '', ...after] = message.split(path)
  return html`${before}<a href="${path}">${path}</a>${after.join(path)}`
}

/** `message` must be one that may reach the outside (`errorAnswer`). The log has the rest under the request id. */
export function errorPage(message: string, requestId: string, status: number): Html {
  const heading = status === 401 ? 'Sign in' : status === 404 ? 'Nothing here' : 'This did not work'
  const signIn = status === 401 ? html`<p><a class="button" href="/login">Sign in with GitHub</a></p>` : undefined
  return page({
    title: heading,
    // The session was not read for an error: a person who is signed in must not be asked to sign in.
    person: 'unknown',
    body: html`<p role="alert">${withLink(message)}</p>${signIn}<p class="fine">Request ${requestId}</p>`,
  })
}
