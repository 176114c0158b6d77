// Onboarding as a person walks it: choose an account → GitHub's install page → back with the installation → proof → choose teams → confirm.
// Every step that binds anything proves afresh; an installation id from a browser is only a question.
import { Type } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import { installationPage } from '../../../github/index.ts'
import { AppError } from '../../../lib/errors.ts'
import type { JsonValue } from '../../../lib/json/canonical-json.ts'
import type { WebServer } from '../../../web/server.ts'
import type { BrokerContext } from '../../context.ts'
import { waitForApproval } from '../../onboarding/approval.ts'
import { onboardingCandidates } from '../../onboarding/candidates.ts'
import { intentOf } from '../../onboarding/intent.ts'
import { type BeginDeps, beginOnboarding, confirmOnboarding, openOnboarding } from '../../onboarding/prove-binding.ts'
import { chooseAccountPage, confirmPage, preparingPage, waitingPage } from '../../pages/onboard.ts'
import { cookieAttributes, type Person } from '../../sessions.ts'
import { csrfText, handleText, idText, idTexts, numbersOf } from '../field-schemas.ts'
import { personOrSignIn, sendPage } from '../pages.ts'

const stateLifeMilliseconds = 60 * 60_000
/** Remembers in the browser what was begun: GitHub loses the state when an owner has to approve. */
const begunCookie = '__Host-sekisho-onboarding'

type BegunState = { readonly purpose: 'onboard'; readonly subject: string }

function isBegunState(value: JsonValue | undefined): value is BegunState {
  return typeof value === 'object' && value !== null && 'purpose' in value && value['purpose'] === 'onboard'
}

const onboardingId = Type.String({ minLength: 1, maxLength: 100, pattern: '^[A-Za-z0-9_-]+$' })
const callbackQuery = Type.Object({
  installation_id: Type.Optional(idText),
  setup_action: Type.Optional(Type.Union([Type.Literal('install'), Type.Literal('update'), Type.Literal('request')])),
  state: Type.Optional(handleText),
  code: Type.Optional(Type.String({ maxLength: 512 })),
})

export function registerOnboard(server: WebServer, context: BrokerContext): void {
  const { sessions, people, github, store, clock, onboarding: worker } = context
  const begin: BeginDeps = { github, people, onboardings: store.onboardings, audit: store.audit, clock }
  const rateLimit = { max: 60, timeWindow: 60_000 }

  const takeBegun = async (handle: string | undefined, person: Person): Promise<void> => {
    const state = handle === undefined ? undefined : await store.sessions.takeLoginState(handle)
    if (isBegunState(state) && state.subject === person.subject) return
    throw new AppError(
      'invalid_request',
      'this onboarding was used already, has expired or was begun by somebody else: begin again at /onboard',
    )
  }
  const goToConfirm = (reply: FastifyReply, id: string): FastifyReply =>
    reply.redirect(`/onboard/confirm?onboarding=${encodeURIComponent(id)}`, 303)

  server.get('/onboard', { config: { rateLimit } }, async (request, reply) => {
    const person = await personOrSignIn(sessions, request, reply)
    if (person === undefined) return reply
    const client = await people.userClient(person.host, person.userId)
    return sendPage(reply, chooseAccountPage(person, await onboardingCandidates(client, github.app().appId, person.userId)))
  })

  server.post(
    '/onboard',
    { schema: { body: Type.Object({ csrf: csrfText }) }, config: { rateLimit } },
    async (request, reply) => {
      const person = await sessions.requireForm(request, request.body.csrf)
      const { endpoints, slug } = github.app()
      if (slug === undefined) throw new AppError('unavailable', 'the GitHub App is not verified yet: try again shortly')
      const data: BegunState = { purpose: 'onboard', subject: person.subject }
      const expiresAt = new Date(clock.now().getTime() + stateLifeMilliseconds)
      const state = (await store.sessions.createLoginState({ data, expiresAt })).reveal()
      reply.setCookie(begunCookie, state, { ...cookieAttributes, maxAge: stateLifeMilliseconds / 1000 })
      return reply.redirect(installationPage(endpoints, slug, state), 303)
    },
  )

  server.get('/onboard/callback', { schema: { querystring: callbackQuery }, config: { rateLimit } }, async (request, reply) => {
    const person = await personOrSignIn(sessions, request, reply)
    if (person === undefined) return reply
    const query = request.query
    const begunHandle = request.cookies[begunCookie]
    reply.clearCookie(begunCookie, cookieAttributes)
    if (query.setup_action === 'request') {
      await takeBegun(query.state ?? begunHandle, person)
      await waitForApproval(begin, person)
      return sendPage(reply, waitingPage(person))
    }
    // A changed installation is news for the controllers; nothing is bound by it.
    if (query.setup_action === 'update') return reply.redirect('/', 303)
    // The state must be the one this very browser began with: a link with somebody's state binds nothing here.
    if (query.state === undefined || query.state !== begunHandle)
      throw new AppError('invalid_request', 'this onboarding did not begin in this browser: begin again at /onboard')
    await takeBegun(query.state, person)
    if (query.installation_id === undefined)
      throw new AppError('invalid_request', 'installation_id is missing: begin again at /onboard')
    return goToConfirm(reply, (await beginOnboarding(begin, person, Number(query.installation_id))).id)
  })

  const installed = Type.Object({ csrf: csrfText, installation_id: idText })
  server.post('/onboard/installed', { schema: { body: installed }, config: { rateLimit } }, async (request, reply) => {
    const body = request.body
    const person = await sessions.requireForm(request, body.csrf)
    return goToConfirm(reply, (await beginOnboarding(begin, person, Number(body.installation_id))).id)
  })

  server.get(
    '/onboard/confirm',
    { schema: { querystring: Type.Object({ onboarding: onboardingId }) }, config: { rateLimit } },
    async (request, reply) => {
      const person = await personOrSignIn(sessions, request, reply)
      if (person === undefined) return reply
      const onboarding = await openOnboarding(begin, person, request.query.onboarding)
      const intent = intentOf(onboarding)
      const isOrganization = intent.account.type === 'Organization'
      const teams = isOrganization
        ? await (await people.userClient(person.host, person.userId)).organizationTeams(intent.account)
        : []
      return sendPage(reply, confirmPage(person, onboarding.id, intent, teams))
    },
  )

  const confirmed = Type.Object({ csrf: csrfText, onboarding: onboardingId, team: idTexts })
  server.post('/onboard/confirm', { schema: { body: confirmed }, config: { rateLimit } }, async (request, reply) => {
    const body = request.body
    const person = await sessions.requireForm(request, body.csrf)
    const open = await openOnboarding(begin, person, body.onboarding)
    const { id } = await confirmOnboarding(begin, person, open, numbersOf(body.team))
    await worker.attempt(id)
    return reply.redirect(`/onboard/progress?onboarding=${encodeURIComponent(id)}`, 303)
  })

  server.get(
    '/onboard/progress',
    { schema: { querystring: Type.Object({ onboarding: onboardingId }) } },
    async (request, reply) => {
      const person = await personOrSignIn(sessions, request, reply)
      if (person === undefined) return reply
      const found = await store.onboardings.find(request.query.onboarding)
      if (found === undefined || found.userId !== person.userId || found.host !== person.host)
        throw new AppError('not_found', 'there is no such onboarding')
      const { tenantName, account } = intentOf(found)
      if (found.state === 'finished' && tenantName !== undefined) return reply.redirect(`/tenants/${tenantName}`, 303)
      return sendPage(reply, preparingPage(person, account.login))
    },
  )
}
