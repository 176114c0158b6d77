// Our OIDC issuer: discovery, keys, authorization code with PKCE, device flow, rotating refresh tokens, revocation, end of
// session. Owns the library; accounts, sign-in and pages come from outside. It never issues a token to a person whom `accounts`
// does not know.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { errors, Provider } from 'oidc-provider'
import { AppError } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { IssuedHandles } from './issued-handles.ts'
import { type IssuerConfigurationDeps, issuerConfiguration } from './issuer-configuration.ts'

/** What the issuer needs beside its configuration. */
export type IssuerDeps = IssuerConfigurationDeps & {
  /** The issuer identifier and the base of every address: the public URL, without a path. */
  readonly publicUrl: URL
  readonly log: Log
  /** Hears of every code and refresh token that is issued or changed. */
  readonly handles: Pick<IssuedHandles, 'issued'>
  /** Set on every response of the library. */
  readonly headers: () => Readonly<Record<string, string>>
}

/** A sign-in that waits for the person's consent. */
export type PendingSignIn = { readonly id: string; readonly clientId: string; readonly redirectHost: string | undefined }

/** The issuer as the routes use it. */
export type Issuer = {
  /**
   * Handles every request below the issuer's paths. The body must not have been read. `address` is the client's, shown to
   * people.
   */
  readonly handle: (request: IncomingMessage, response: ServerResponse, address: string) => Promise<void>
  /** Throws `invalid_request` when the sign-in has expired or belongs to another browser. */
  readonly pending: (request: IncomingMessage, response: ServerResponse) => Promise<PendingSignIn>
  /** Records the consent and resolves to the address to redirect to. Throws as `pending`. */
  readonly approve: (request: IncomingMessage, response: ServerResponse, subject: string) => Promise<string>
  /** Ends the sign-in with `access_denied` and resolves to the address to redirect to. Throws as `pending`. */
  readonly refuse: (request: IncomingMessage, response: ServerResponse, description?: string) => Promise<string>
  /** Ends the issuer's session of this browser, if there is one. */
  readonly endSession: (request: IncomingMessage, response: ServerResponse) => Promise<void>
  /** Another person than `subject` is forgotten by the issuer's session of this browser; a sign-in in progress goes on. */
  readonly forgetOthers: (request: IncomingMessage, response: ServerResponse, subject: string) => Promise<void>
}

function expiredSignIn(cause: unknown): AppError {
  return new AppError('invalid_request', 'this sign-in has expired or began in another browser: start again', { cause })
}

function redirectHostOf(params: Record<string, unknown>): string | undefined {
  const uri = params['redirect_uri']
  return typeof uri === 'string' && URL.canParse(uri) ? new URL(uri).host : undefined
}

/** The issuer of one period of keys; see rotating-issuer.ts. */
export function createIssuer(deps: IssuerDeps): Issuer {
  const { log, publicUrl } = deps
  const provider = new Provider(publicUrl.origin, issuerConfiguration(deps))
  // Addresses in responses follow the public URL only: `handle` overwrites the host and scheme that a client or proxy sent.
  provider.proxy = true
  provider.use(async (ctx, next) => {
    ctx.set({ ...deps.headers() })
    await next()
  })
  provider.on('server_error', (_ctx, error) => log.error({ error }, 'issuer failed'))
  provider.on('grant.error', (_ctx, error) => log.debug({ reason: error.message }, 'token request refused'))
  const issued = ({ jti, grantId }: { readonly jti: string; readonly grantId?: string | undefined }) =>
    deps.handles.issued(jti, grantId)
  provider.on('authorization_code.saved', issued)
  provider.on('device_code.saved', issued)
  provider.on('refresh_token.saved', issued)
  const callback = provider.callback()

  const interactionOf = async (request: IncomingMessage, response: ServerResponse) => {
    try {
      return await provider.interactionDetails(request, response)
    } catch (cause) {
      if (cause instanceof errors.SessionNotFound) throw expiredSignIn(cause)
      throw cause
    }
  }

  const sessionOf = (request: IncomingMessage, response: ServerResponse) =>
    provider.Session.get(provider.createContext(request, response))

  // The library would end the other person's session on a page that submits itself, and their other sign-ins with it.
  const forgetOthers = async (request: IncomingMessage, response: ServerResponse, subject: string): Promise<void> => {
    const session = await sessionOf(request, response)
    if (session.accountId === undefined || session.accountId === subject) return
    Object.assign(session, { accountId: undefined, loginTs: undefined, authorizations: undefined })
    await session.persist()
  }

  return {
    forgetOthers,
    async endSession(request, response) {
      const session = await sessionOf(request, response)
      if (session.exp !== undefined) await session.destroy()
    },
    async handle(request, response, address) {
      request.headers.host = publicUrl.host
      request.headers['x-forwarded-proto'] = publicUrl.protocol.slice(0, -1)
      delete request.headers['x-forwarded-host']
      request.headers['x-forwarded-for'] = address
      await callback(request, response)
    },
    async pending(request, response) {
      const interaction = await interactionOf(request, response)
      const { params, uid } = interaction
      return { id: uid, clientId: String(params['client_id']), redirectHost: redirectHostOf(params) }
    },
    async approve(request, response, subject) {
      const { params } = await interactionOf(request, response)
      await forgetOthers(request, response, subject)
      const grant = new provider.Grant({ accountId: subject, clientId: String(params['client_id']) })
      grant.addOIDCScope(typeof params['scope'] === 'string' ? params['scope'] : 'openid')
      const grantId = await grant.save()
      const result = { login: { accountId: subject, remember: false }, consent: { grantId } }
      return provider.interactionResult(request, response, result, { mergeWithLastSubmission: false })
    },
    async refuse(request, response, description = 'the person refused') {
      await interactionOf(request, response)
      const result = { error: 'access_denied', error_description: description }
      return provider.interactionResult(request, response, result, { mergeWithLastSubmission: false })
    },
  }
}
