// Sends pages, and redirects people who are not signed in to sign in and back. Shared by all routes that people see.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Html } from '../../web/html.ts'
import type { Person, PersonSessions } from '../sessions.ts'

/** Sends a page as HTML. */
export function sendPage(reply: FastifyReply, content: Html): FastifyReply {
  return reply.type('text/html; charset=utf-8').send(content.toString())
}

/** The person, or undefined after the browser was redirected to sign in: then the route must return without an answer of its own. */
export async function personOrSignIn(
  sessions: PersonSessions,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Person | undefined> {
  const person = await sessions.personOf(request)
  if (person === undefined) await reply.redirect(`/login?return_to=${encodeURIComponent(request.url)}`, 303)
  return person
}
