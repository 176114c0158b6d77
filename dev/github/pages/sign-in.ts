// Signing in and out. The emulator's users have no passwords: the visitor chooses one of them.
import type { FastifyInstance } from 'fastify'
import type { ActionContext } from '../actions/context.ts'
import { userByLogin } from '../state/github-state.ts'
import { localPath, showHtml, showRefusal } from './browser.ts'
import { html } from './html.ts'
import { page } from './layout.ts'
import { endSession, formIsGenuine, startSession, visitorOf } from './session.ts'

function field(value: unknown, name: string): string | undefined {
  const record: Readonly<Record<string, unknown>> = typeof value === 'object' && value !== null ? { ...value } : {}
  const found = record[name]
  return typeof found === 'string' ? found : undefined
}

export function registerSignIn(server: FastifyInstance, context: ActionContext): void {
  server.get('/login', (request, reply) => {
    const returnTo = localPath(field(request.query, 'return_to'))
    const people = context.state.users.filter(user => user.type === 'User')
    const buttons = people.map(
      user => html`<p><button name="login" value="${user.login}">Sign in as ${user.login}</button> ${user.name}</p>`,
    )
    const form = html`<form method="post" action="/session"><input type="hidden" name="return_to" value="${returnTo}">${buttons}</form>`
    return showHtml(reply, 200, page('Sign in', visitorOf(context, request), form))
  })

  server.post('/session', async (request, reply) => {
    const user = userByLogin(context.state, field(request.body, 'login') ?? '')
    if (user?.type !== 'User')
      return showRefusal(reply, undefined, 422, 'There is no such user. Go back and choose one from the list.')
    endSession(context, request, reply)
    startSession(context, reply, user)
    await context.store.durable()
    return reply.redirect(localPath(field(request.body, 'return_to')))
  })

  server.post('/logout', async (request, reply) => {
    const visitor = visitorOf(context, request)
    if (visitor && !formIsGenuine(visitor, field(request.body, 'authenticity_token'))) {
      return showRefusal(reply, visitor, 422, 'The form is out of date. Go back, reload the page and try again.')
    }
    endSession(context, request, reply)
    await context.store.durable()
    return reply.redirect('/login')
  })
}
