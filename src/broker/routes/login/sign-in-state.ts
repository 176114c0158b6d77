// What is remembered between the beginning of a sign-in and GitHub's answer: one-use, sealed in the store, bound to the browser that began.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../../lib/errors.ts'
import type { JsonValue } from '../../../lib/json/canonical-json.ts'
import type { BrokerContext } from '../../context.ts'

const stateLifeMilliseconds = 10 * 60_000

type SignIn = {
  /** RFC 7636. */
  readonly codeVerifier: string
  readonly returnTo: string
}

type SignInState = SignIn & { readonly purpose: 'sign-in'; readonly browser: string }

/** Resolves to the state to send to GitHub, and sets the cookie of the browser. */
export async function rememberSignIn(
  { sessions, store, clock }: BrokerContext,
  request: FastifyRequest,
  reply: FastifyReply,
  signIn: SignIn,
): Promise<string> {
  const data: SignInState = { purpose: 'sign-in', browser: sessions.bindBrowser(request, reply), ...signIn }
  const expiresAt = new Date(clock.now().getTime() + stateLifeMilliseconds)
  return (await store.sessions.createLoginState({ data, expiresAt })).reveal()
}

/** Uses the state up. Rejects with `invalid_request` unless the sign-in began in this very browser and was not answered before. */
export async function takeSignIn(
  { sessions, store }: BrokerContext,
  request: FastifyRequest,
  handle: string | undefined,
): Promise<SignIn> {
  if (handle === undefined) throw refusedSignIn('the answer of GitHub has no state')
  const state = await store.sessions.takeLoginState(handle)
  if (!isSignInState(state)) throw refusedSignIn('this sign-in was used already or has expired')
  if (!sessions.isBoundBrowser(request, state.browser)) throw refusedSignIn('this sign-in began in another browser')
  return state
}

/** The refusal of an answer that belongs to no sign-in here. */
export function refusedSignIn(message: string): AppError {
  return new AppError('invalid_request', `${message}: go back to the first page and sign in again`)
}

function isSignInState(value: JsonValue | undefined): value is SignInState {
  return typeof value === 'object' && value !== null && 'purpose' in value && value['purpose'] === 'sign-in'
}
