// The frame around every page handler: the signed-in visitor, the check of posted forms, and refusals as pages.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ActionContext } from '../actions/context.ts'
import { Refusal } from '../state/refusal.ts'
import { type Html, html } from './html.ts'
import { page } from './layout.ts'
import { formIsGenuine, type Visitor, visitorOf } from './session.ts'

/** Posted fields; a field may occur several times (checkboxes). */
export type Posted = { one(name: string): string | undefined; all(name: string): readonly string[] }

export type PageCall = {
  readonly context: ActionContext
  readonly visitor: Visitor
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  readonly posted: Posted
  readonly reply: FastifyReply
}

/** The result of a page handler: a page to show or a path to redirect to. */
export type PageResult = Html | { readonly redirect: string }

function postedOf(body: unknown): Posted {
  const values: Readonly<Record<string, unknown>> = typeof body === 'object' && body !== null ? { ...body } : {}
  const all = (name: string): readonly string[] => [values[name]].flat().filter(one => typeof one === 'string')
  return { all, one: name => all(name)[0] }
}

export function showHtml(reply: FastifyReply, status: number, content: Html): FastifyReply {
  return reply
    .code(status)
    .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
    .header('cache-control', 'no-store')
    .type('text/html; charset=utf-8')
    .send(content.text)
}

/** The page that shows a refusal. */
export function showRefusal(reply: FastifyReply, visitor: Visitor | undefined, status: number, message: string): FastifyReply {
  return showHtml(
    reply,
    status,
    page(status === 404 ? 'Not found' : 'This did not work', visitor, html`<p role="alert">${message}</p>`),
  )
}

/** A path on this host, the only kind that `return_to` may contain. */
export function localPath(text: string | undefined): string {
  return text !== undefined && /^\/(?![/\\])[^\\\s]*$/.test(text) ? text : '/'
}

type Handler = (call: PageCall) => PageResult | Promise<PageResult>

/** Handles one request of a visitor. A form without the session's token is refused. */
async function answer(
  handle: Handler,
  call: Omit<PageCall, 'query' | 'posted' | 'params'>,
  request: FastifyRequest,
): Promise<FastifyReply> {
  const { context, visitor, reply } = call
  const posted = postedOf(request.body)
  if (request.method === 'POST' && !formIsGenuine(visitor, posted.one('authenticity_token'))) {
    return showRefusal(reply, visitor, 422, 'The form is out of date. Go back, reload the page and try again.')
  }
  try {
    const query = new URLSearchParams(request.url.split('?')[1] ?? '')
    const result = await handle({ ...call, params: { ...(request.params as Record<string, string>) }, query, posted })
    await context.store.durable()
    return 'redirect' in result ? reply.redirect(result.redirect) : showHtml(reply, 200, result)
  } catch (error) {
    if (error instanceof Refusal) return showRefusal(reply, visitor, error.status, error.message)
    throw error
  }
}

export type Pages = { get(path: string, handle: Handler): void; post(path: string, handle: Handler): void }

/** Registers pages for signed-in visitors; others are redirected to sign in and return afterwards. */
export function pagesOf(server: FastifyInstance, context: ActionContext): Pages {
  const register = (method: 'GET' | 'POST', url: string, handle: Handler): void => {
    server.route({
      method,
      url,
      handler: async (request, reply) => {
        const visitor = visitorOf(context, request)
        if (visitor) return answer(handle, { context, visitor, reply }, request)
        return reply.redirect(`/login?return_to=${encodeURIComponent(method === 'GET' ? request.url : '/')}`)
      },
    })
  }
  return {
    get: (path, handle) => register('GET', path, handle),
    post: (path, handle) => register('POST', path, handle),
  }
}
