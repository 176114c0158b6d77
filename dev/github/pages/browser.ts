// Owns: the frame around every page handler: who is signed in, whether a posted form is genuine, and refusals as readable pages.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ActionContext } from '../actions/context.ts'
import { Refusal } from '../state/refusal.ts'
import { type Html, html } from './html.ts'
import { page } from './layout.ts'
import { formIsGenuine, type Visitor, visitorOf } from './session.ts'

/** Posted fields; a field may come several times (checkboxes). */
export type Posted = { one(name: string): string | undefined; all(name: string): readonly string[] }

export type PageCall = {
  readonly context: ActionContext
  readonly visitor: Visitor
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  readonly posted: Posted
  readonly reply: FastifyReply
}

/** What a page handler gives back: a page to show or an address to go to. */
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

/** The refusal of a page as a page. */
export function showRefusal(reply: FastifyReply, visitor: Visitor | undefined, status: number, message: string): FastifyReply {
  return showHtml(
    reply,
    status,
    page(status === 404 ? 'Not found' : 'This did not work', visitor, html`<p role="alert">${message}</p>`),
  )
}

/** An address on this host only: what `return_to` may hold. */
export function localPath(text: string | undefined): string {
  return text !== undefined && /^\/(?![/\\])[^\\\s]*$/.test(text) ? text : '/'
}

/** Registers a page that needs somebody signed in; who is not is sent to sign in and comes back. */
export function registerPage(
  server: FastifyInstance,
  context: ActionContext,
  method: 'GET' | 'POST',
  path: string,
  handle: (call: PageCall) => PageResult | Promise<PageResult>,
): void {
  const run = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const visitor = visitorOf(context, request)
    if (!visitor) return reply.redirect(`/login?return_to=${encodeURIComponent(method === 'GET' ? request.url : '/')}`)
    const posted = postedOf(request.body)
    if (method === 'POST' && !formIsGenuine(visitor, posted.one('authenticity_token'))) {
      return showRefusal(reply, visitor, 422, 'The form is out of date. Go back, reload the page and try again.')
    }
    try {
      const query = new URLSearchParams(request.url.split('?')[1] ?? '')
      const result = await handle({
        context,
        visitor,
        params: { ...(request.params as Record<string, string>) },
        query,
        posted,
        reply,
      })
      await context.store.durable()
      return 'redirect' in result ? reply.redirect(result.redirect) : showHtml(reply, 200, result)
    } catch (error) {
      if (error instanceof Refusal) return showRefusal(reply, visitor, error.status, error.message)
      throw error
    }
  }
  server.route({ method, url: path, handler: run })
}
