// The pages of the device flow: enter the code, see which App requests access, allow or refuse it, with a warning.
import type { FastifyInstance } from 'fastify'
import type { ActionContext } from '../actions/context.ts'
import { type PageCall, type PageResult, pagesOf } from '../pages/browser.ts'
import { html } from '../pages/html.ts'
import { formToken, page } from '../pages/layout.ts'
import type { App } from '../state/apps.ts'
import type { DeviceAuthorization } from '../state/credentials.ts'
import { appById } from '../state/github-state.ts'
import { Refusal } from '../state/refusal.ts'
import { answerDevice, deviceByUserCode } from './device.ts'

function enterCode({ visitor }: PageCall): PageResult {
  return page(
    'Device activation',
    visitor,
    html`<p>Enter the code that your device shows.</p><form method="post" action="/login/device">${formToken(visitor)}
<p><label>Code <input name="user_code" required maxlength="9" autocomplete="off"></label></p><button>Continue</button></form>`,
  )
}

function waitingFor({ context, posted }: PageCall): { readonly app: App; readonly device: DeviceAuthorization } {
  const device = deviceByUserCode(context, posted.one('user_code') ?? '')
  const app = device && appById(context.state, device.appId)
  if (!app) throw new Refusal(422, 'This code is unknown, used or expired. Start again on your device.')
  return { app, device }
}

function confirm(call: PageCall): PageResult {
  const { app } = waitingFor(call)
  return page(
    `Authorize ${app.name}`,
    call.visitor,
    html`<p><strong>${app.name}</strong> wants to act on your behalf. Continue only if <em>you</em> started this
on your own device. Never enter a code that somebody sent you.</p><form method="post" action="/login/device/confirm">${formToken(call.visitor)}
<input type="hidden" name="user_code" value="${call.posted.one('user_code') ?? ''}">
<button name="authorize" value="1">Authorize ${app.slug}</button> <button class="quiet" name="authorize" value="0">Cancel</button></form>`,
  )
}

function decide(call: PageCall): PageResult {
  const { device } = waitingFor(call)
  const granted = call.posted.one('authorize') === '1'
  answerDevice(call.context, device, call.visitor.user.id, granted)
  return page(
    granted ? 'Your device is connected' : 'Your device was refused',
    call.visitor,
    html`<p>You can go back to your device.</p>`,
  )
}

export function registerDevicePages(server: FastifyInstance, context: ActionContext): void {
  const pages = pagesOf(server, context)
  pages.get('/login/device', enterCode)
  pages.post('/login/device', confirm)
  pages.post('/login/device/confirm', decide)
}
