// Sends pages, and redirects people who are not signed in to sign in and back. Shared by all routes that people see.
import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Html } from '../../web/html.ts'
import type { Person, PersonSessions } from '../sessions.ts'

/**
 * Sends a page as HTML, or 304 when it is what the script of the page has (RFC 9110 §13.1.2). Pages are not stored by browsers
 * (`no-store`): only the script asks so.
 */
export function sendPage(reply: FastifyReply, content: Html): FastifyReply {
  const text = content.toString()
  const tag = `"${createHash('sha256').update(text).digest('base64url')}"`
  const { method, headers } = reply.request
  reply.header('etag', tag)
  // A proxy that compresses makes a tag weak.
  if (method === 'GET' && headers['if-none-match']?.replace(/^W\//, '') === tag) return reply.code(304).send()
  return reply.type('text/html; charset=utf-8').send(text)
}

/**
 * The person, or undefined after the browser was redirected to sign in: then the route must return without an answer of its
 * own.
 */
export async function personOrSignIn(
  sessions: Pick<PersonSessions, 'personOf'>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Person | undefined> {
  const person = await sessions.personOf(request)
  if (person === undefined) await reply.redirect(`/login?return_to=${encodeURIComponent(request.url)}`, 303)
  return person
}
