// The device flow: the two codes, their lifetime, and the responses to a device that polls. It never shows a page.
// https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-user-access-token-for-a-github-app#using-the-device-flow-to-generate-a-user-access-token
// RFC 8628 §3.5.
import type { FastifyInstance } from 'fastify'
import type { ActionContext } from '../actions/context.ts'
import { issueTokens, rememberConsent } from '../actions/user-tokens.ts'
import type { App } from '../state/apps.ts'
import { hours, minutes, seconds } from '../state/clock.ts'
import type { DeviceAuthorization } from '../state/credentials.ts'
import { appByClientId } from '../state/github-state.ts'
import { credentialKey, newDeviceCode, newUserCode } from '../tokens/formats.ts'
import {
  type Form,
  failure,
  type OAuthAnswer,
  type OAuthOutcome,
  registerOAuthRoute,
  shownTokens,
  unknownClient,
} from './answer.ts'

/** RFC 8628 §3.4. */
export const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code'

const codeLife = minutes(15)
const firstInterval = seconds(5)
/** The most pending codes of one App; above it the oldest is dropped. */
const mostWaiting = 1000

const disabled = failure('device_flow_disabled', 'Device Flow must be explicitly enabled for this App')

function dropOldest(context: ActionContext, app: App): void {
  const waiting = Object.entries(context.state.credentials.devices).filter(([, one]) => one.appId === app.id)
  const [oldest] = waiting.sort(([, left], [, right]) => left.validUntil - right.validUntil)
  if (waiting.length < mostWaiting || !oldest) return
  context.store.change(({ credentials }) => {
    delete credentials.devices[oldest[0]]
  })
}

/** `POST /login/device/code`. */
function startDevice(context: ActionContext, form: Form): OAuthOutcome {
  const app = appByClientId(context.state, form['client_id'] ?? '')
  if (!app) return unknownClient
  if (!app.deviceFlow) return { status: 200, body: disabled }
  dropOldest(context, app)
  const deviceCode = newDeviceCode()
  const userCode = newUserCode()
  const validUntil = context.now() + codeLife
  context.store.change(({ credentials }) => {
    credentials.devices[credentialKey(deviceCode)] = {
      appId: app.id,
      userCodeKey: credentialKey(userCode),
      state: 'pending',
      userId: null,
      interval: firstInterval,
      lastPollAt: null,
      validUntil,
      expiresAt: validUntil + hours(1),
    }
  })
  const body: OAuthAnswer = {
    device_code: deviceCode,
    user_code: userCode,
    verification_uri: context.links.web('/login/device'),
    expires_in: codeLife / 1000,
    interval: firstInterval / 1000,
  }
  return { status: 200, body }
}

/** Whether the poll comes too soon; then the device must wait five seconds longer from now on. */
function tooSoon(context: ActionContext, device: DeviceAuthorization): boolean {
  const { lastPollAt } = device
  const early = lastPollAt !== null && context.now() - lastPollAt < device.interval
  context.store.change(() => {
    device.lastPollAt = context.now()
    if (early) device.interval += seconds(5)
  })
  return early
}

/** The response to a poll; a granted code is used up by it. */
export function pollDevice(context: ActionContext, app: App, form: Form): OAuthAnswer {
  if (!app.deviceFlow) return disabled
  const key = credentialKey(form['device_code'] ?? '')
  const device = context.state.credentials.devices[key]
  if (!device || device.appId !== app.id) {
    return failure('incorrect_device_code', 'The device_code provided is not valid.')
  }
  if (device.validUntil <= context.now()) return failure('expired_token', 'This device_code has expired.')
  if (tooSoon(context, device)) {
    const interval = device.interval / 1000
    return failure('slow_down', `Too many requests have been made in the same timeframe. Wait ${interval} seconds.`, { interval })
  }
  if (device.state === 'denied') return failure('access_denied', 'The authorization request was denied.')
  const { userId } = device
  if (device.state === 'pending' || userId === null) {
    return failure('authorization_pending', 'The authorization request is still pending.')
  }
  context.store.change(({ credentials }) => {
    delete credentials.devices[key]
  })
  return shownTokens(issueTokens(context, app, userId, { byDevice: true }))
}

/** The pending authorization of this user code; case and the dash do not matter. */
export function deviceByUserCode(context: ActionContext, typed: string): DeviceAuthorization | undefined {
  const letters = typed.replace(/[^A-Za-z0-9]/g, '').toUpperCase()
  const key = credentialKey(`${letters.slice(0, 4)}-${letters.slice(4)}`)
  return Object.values(context.state.credentials.devices).find(
    one => one.userCodeKey === key && one.state === 'pending' && one.validUntil > context.now(),
  )
}

/** Records the person's decision; only the first decision counts. */
export function answerDevice(context: ActionContext, device: DeviceAuthorization, userId: number, granted: boolean): void {
  if (granted) rememberConsent(context, device.appId, userId)
  context.store.change(() => {
    device.state = granted ? 'granted' : 'denied'
    device.userId = granted ? userId : null
  })
}

export function registerDeviceCode(server: FastifyInstance, context: ActionContext): void {
  registerOAuthRoute(server, context, '/login/device/code', startDevice)
}
