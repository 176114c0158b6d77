// The issuer's own pages, and the page on which a person lets kubectl act for them. Pure.
import type { IssuerPages, PageForm } from '../../identity/oidc/issuer-pages.ts'
import { type Html, html } from '../../web/html.ts'
import type { Person } from '../sessions.ts'
import { formSecret, page } from './layout.ts'

function xsrf(form: PageForm): Html {
  return html`<input type="hidden" name="xsrf" value="${form.xsrf}">`
}

export const issuerPages: IssuerPages = {
  deviceCode: (form, problem) =>
    page({
      title: 'Enter the code',
      body: html`${problem === undefined ? undefined : html`<p role="alert">${problem}</p>`}
<form method="post" action="${form.action}">${xsrf(form)}
<label for="user_code">The code that your computer shows</label>
<input type="text" id="user_code" name="user_code" autocomplete="off" maxlength="20" required><button>Continue</button></form>`,
    }).toString(),
  deviceConfirmation: (form, request) =>
    page({
      title: 'Is this you?',
      body: html`<p>A computer at <strong>${request.address}</strong> (${request.agent}) asks to use <strong>${request.clientName}</strong> in your name.</p>
<p>It must show this code: <strong>${request.userCode}</strong>. If another person sent you the code, refuse.</p>
<form method="post" action="${form.action}">${xsrf(form)}<input type="hidden" name="user_code" value="${request.userCode}">
<button name="confirm" value="yes">It is my computer</button> <button class="quiet" name="abort" value="yes">Refuse</button></form>`,
    }).toString(),
  deviceDone: () =>
    page({ title: 'Signed in', body: html`<p>Your computer is signed in. You can close this page.</p>` }).toString(),
  endSession: form =>
    page({
      title: 'Sign out of kubectl',
      body: html`<form method="post" action="${form.action}">${xsrf(form)}<button name="logout" value="yes">Sign out</button></form>`,
    }).toString(),
  sessionEnded: () => page({ title: 'Signed out', body: html`<p>You are signed out.</p>` }).toString(),
  problem: message =>
    page({
      title: 'This did not work',
      body: html`<p role="alert">${message}</p><p>Start again in the program that sent you here.</p>`,
    }).toString(),
}

/**
 * `redirectHost` receives the answer; undefined when there is no redirect (device flow): then the program may be on another
 * computer.
 */
export function consentPage(person: Person, action: string, redirectHost: string | undefined): Html {
  return page({
    title: 'Let kubectl act for you?',
    person,
    body: html`<p>${redirectHost === undefined ? 'The program that showed you the code, on this or another computer,' : 'A program on this computer'} asks to use Kubernetes as <strong>${person.login}</strong>.
${redirectHost === undefined ? undefined : html`The answer goes to <code>${redirectHost}</code>, which is this computer.`}</p>
<form method="post" action="${action}">${formSecret(person)}
<button name="decision" value="allow">Continue as ${person.login}</button>
<button class="quiet" name="decision" value="refuse">Refuse</button></form>`,
  })
}
