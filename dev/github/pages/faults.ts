// Owns: the page on which a developer arms and disarms faults by hand. It is part of the control surface: whoever opens it shows the
// control token once. Never reachable by a mere sign-in, which anybody can do.
import { randomBytes } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Refusal } from '../actions/outcome.ts'
import type { Context } from '../context.ts'
import { faultOf } from '../control/fault-of.ts'
import { isControlToken } from '../control/routes.ts'
import { describeFault, type FaultKind, faultKinds } from '../faults/kinds.ts'
import { RestError } from '../rest/protocol/answer.ts'
import { showHtml, showRefusal } from './browser.ts'
import { type Html, html, type Part } from './html.ts'
import { page, table } from './layout.ts'

const cookieName = 'control_session'
const address = '/_emulator'

type Parameter = {
  readonly type?: string
  readonly description?: string
  readonly const?: unknown
  readonly anyOf?: readonly { readonly const?: unknown }[]
}

const kindsOf = Object.keys(faultKinds) as FaultKind[]
const parametersOf = (kind: FaultKind): [string, Parameter][] => Object.entries<Parameter>(faultKinds[kind].properties)

const input = (name: string, parameter: Parameter): Part => {
  if (parameter.anyOf !== undefined)
    return html`<select name="${name}"><option></option>${parameter.anyOf.map(one => html`<option>${String(one.const)}</option>`)}</select>`
  if (parameter.type === 'boolean')
    return html`<select name="${name}"><option></option><option>true</option><option>false</option></select>`
  if (parameter.type === 'object')
    return html`<textarea name="${name}" rows="2" cols="40" placeholder="retry-after: 7"></textarea>`
  return html`<input name="${name}" type="${parameter.type === 'integer' ? 'number' : 'text'}">`
}

const armForm = (kind: FaultKind, token: Part): Html =>
  html`<details><summary><code>${kind}</code> ${describeFault(kind)}</summary>
<form method="post" action="${address}/arm">${token}<input type="hidden" name="kind" value="${kind}">
${parametersOf(kind).map(([name, parameter]) => html`<p><label>${name} ${input(name, parameter)}</label> ${parameter.description ?? ''}</p>`)}
<p><label>times <input name="times" type="number"></label> <label>for <input name="for" type="number"> seconds</label></p>
<button>Arm ${kind}</button></form></details>`

const button = (token: Part, action: string, label: string, id = ''): Html =>
  html`<form class="inline" method="post" action="${address}/${action}">${token}<input type="hidden" name="id" value="${id}"><button class="quiet">${label}</button></form>`

const overview = (context: Context, formToken: string): Html => {
  const token = html`<input type="hidden" name="authenticity_token" value="${formToken}">`
  const rows = context.faults.list().map(one => {
    const { kind, ...parameters } = one.fault
    const until = one.until === null ? 'disarmed' : new Date(one.until).toISOString()
    return [
      one.id,
      kind,
      html`<code>${JSON.stringify(parameters)}</code>`,
      one.remaining ?? 'any',
      one.used,
      until,
      button(token, 'disarm', `Disarm ${one.id}`, String(one.id)),
    ]
  })
  return page(
    'Faults',
    undefined,
    html`${table(['Id', 'Kind', 'Parameters', 'Uses left', 'Used', 'Until', ''], rows)}<p>${button(token, 'reset', 'Disarm everything')}</p>
<h2>Arm</h2>${kindsOf.map(kind => armForm(kind, token))}`,
  )
}

const signInPage = page(
  'Faults',
  undefined,
  html`<form method="post" action="${address}/session"><p><label>Control token (file <code>secrets/control-token</code>)
<input type="password" name="token" autocomplete="off"></label></p><button>Open</button></form>`,
)

type Posted = Readonly<Record<string, unknown>>
const postedOf = (request: FastifyRequest): Posted =>
  typeof request.body === 'object' && request.body !== null ? { ...request.body } : {}
const textOf = (posted: Posted, name: string): string => (typeof posted[name] === 'string' ? posted[name].trim() : '')

const headersOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .split('\n')
      .filter(line => line.includes(':'))
      .map(line => [line.slice(0, line.indexOf(':')).trim(), line.slice(line.indexOf(':') + 1).trim()]),
  )

const parameterValue = (parameter: Parameter, text: string): unknown => {
  if (parameter.anyOf !== undefined) return parameter.anyOf.find(one => String(one.const) === text)?.const ?? text
  if (parameter.type === 'boolean') return text === 'true'
  if (parameter.type === 'object') return headersOf(text)
  return parameter.type === 'integer' ? Number(text) : text
}

/** What was typed, in the form in which the control API takes it; empty fields are left out. */
const armingOf = (posted: Posted): Posted => {
  const kind = textOf(posted, 'kind')
  const known = kindsOf.find(one => one === kind)
  const own = known === undefined ? [] : parametersOf(known)
  const all: [string, Parameter][] = [...own, ['times', { type: 'integer' }], ['for', { type: 'integer' }]]
  const given = all.filter(([name]) => textOf(posted, name) !== '')
  return {
    kind,
    ...Object.fromEntries(given.map(([name, parameter]) => [name, parameterValue(parameter, textOf(posted, name))])),
  }
}

/** Registers the page and its forms. Sessions are kept in memory: a restart asks for the control token again. */
export const registerFaultsPage = (server: FastifyInstance, context: Context): void => {
  const sessions = new Map<string, string>()
  const formTokenOf = (request: FastifyRequest): string | undefined => sessions.get(request.cookies[cookieName] ?? '')

  server.get(address, (request, reply) => {
    const formToken = formTokenOf(request)
    return showHtml(reply, 200, formToken === undefined ? signInPage : overview(context, formToken))
  })

  server.post(`${address}/session`, (request, reply) => {
    if (!isControlToken(context, textOf(postedOf(request), 'token')))
      return showRefusal(
        reply,
        undefined,
        403,
        'The control token is wrong. It is in the file secrets/control-token of the state folder.',
      )
    const session = randomBytes(32).toString('base64url')
    sessions.set(session, randomBytes(32).toString('base64url'))
    void reply.setCookie(cookieName, session, { path: address, httpOnly: true, sameSite: 'strict' })
    return reply.redirect(address)
  })

  const form = (action: string, handle: (posted: Posted) => void): void => {
    server.post(`${address}/${action}`, (request, reply): FastifyReply => {
      const posted = postedOf(request)
      const formToken = formTokenOf(request)
      if (formToken === undefined || textOf(posted, 'authenticity_token') !== formToken)
        return showRefusal(reply, undefined, 422, 'The form is out of date. Open the page of faults again.')
      try {
        handle(posted)
      } catch (error) {
        if (error instanceof Refusal) return showRefusal(reply, undefined, error.status, error.message)
        if (!(error instanceof RestError)) throw error
        return showRefusal(reply, undefined, error.status, `${error.message}: ${error.errors.map(one => one.field).join(', ')}`)
      }
      return reply.redirect(address)
    })
  }
  form('arm', posted => {
    const { fault, times, seconds } = faultOf(armingOf(posted))
    context.faults.arm(fault, times, seconds)
  })
  form('disarm', posted => void context.faults.disarm(Number(textOf(posted, 'id'))))
  form('reset', () => context.faults.reset())
}
