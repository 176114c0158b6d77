// The configuration of our issuer: one public client, PKCE always, ES256 only, ID tokens of ten minutes, rotating refresh tokens.
// It decides neither who a person is (`accounts`) nor what pages look like (`pages`).
import {
  type Account,
  type ClientMetadata,
  type Configuration,
  errors,
  interactionPolicy,
  type KoaContextWithOIDC,
} from 'oidc-provider'
import { kubernetesClientId } from '../../api/names.ts'
import { type ErrorCode, isAppError } from '../../lib/errors.ts'
import type { IssuerKeys } from './issuer-keys.ts'
import type { IssuerPages, PageForm } from './issuer-pages.ts'
import type { PollingPace } from './polling-pace.ts'
import { createRecordAdapter, type OidcRecordStore } from './record-adapter.ts'
import { createRefreshGrace } from './refresh-grace.ts'

/** What an ID token says of a person beside the subject. */
export type IssuerClaims = { readonly login: string; readonly groups: readonly string[] }

/** The people who may sign in. Subjects are written by `userSubject`. */
export type IssuerAccounts = {
  /** Whether the person has signed in here and still may. Does not call GitHub. */
  readonly exists: (subject: string) => Promise<boolean>
  /**
   * Read from GitHub now. Undefined: the person must sign in again. Throws `forbidden`, with the cure, for a person who may not
   * have a token now, and `unavailable` or `upstream_failed` when GitHub does not answer.
   */
  readonly claims: (subject: string) => Promise<IssuerClaims | undefined>
  /** Called before an ID token is signed; when it rejects, no token is signed. */
  readonly recordIssued: (subject: string, claims: IssuerClaims) => Promise<void>
  /** Called when a used refresh token is sent again; `isAccepted`: it gets a successor, else all tokens of the sign-in end. */
  readonly recordReplayed: (subject: string, isAccepted: boolean) => Promise<void>
}

/** What the configuration is made from. */
export type IssuerConfigurationDeps = {
  readonly keys: IssuerKeys
  readonly records: OidcRecordStore
  readonly pace: PollingPace
  readonly accounts: IssuerAccounts
  readonly pages: IssuerPages
  readonly now: () => Date
}

/** The paths that the issuer serves. */
export const issuerPaths = {
  discovery: '/.well-known/openid-configuration',
  keys: '/oidc/jwks',
  authorization: '/oidc/authorize',
  token: '/oidc/token',
  revocation: '/oidc/revoke',
  deviceAuthorization: '/oidc/device-authorization',
  device: '/device',
  endSession: '/oidc/end-session',
  interaction: '/oidc/interaction',
} as const

/** The cookie of the issuer's session; its signature is in `<name>.sig`. */
export const issuerSessionCookie = '__Host-sekisho-issuer'

const minutes = (count: number): number => count * 60
const hours = (count: number): number => minutes(count * 60)
const idTokenLifeSeconds = minutes(10)
const refreshIdleSeconds = hours(12)
const refreshLongestSeconds = hours(7 * 24)

/** No secret, loopback redirects on any port (RFC 8252 §7.3), code and device flows. */
const kubernetesClient: ClientMetadata = {
  client_id: kubernetesClientId,
  client_name: 'kubectl',
  application_type: 'native',
  token_endpoint_auth_method: 'none',
  grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
  response_types: ['code'],
  redirect_uris: ['http://127.0.0.1/callback'],
  id_token_signed_response_alg: 'ES256',
}

function formOf(ctx: KoaContextWithOIDC, route: string): PageForm {
  const { session } = ctx.oidc
  return { action: new URL(ctx.oidc.urlFor(route)).pathname, xsrf: String(session?.state?.['secret'] ?? '') }
}

function show(ctx: KoaContextWithOIDC, page: string): void {
  ctx.type = 'html'
  ctx.body = page
}

function codeError(out: { readonly error?: string } | undefined, error: Error | undefined): string | undefined {
  if (error === undefined && out === undefined) return undefined
  if (error?.name === 'AbortedError') {
    const { cause } = error
    return cause instanceof errors.AccessDenied && cause.error_description !== undefined
      ? `The sign-in was refused: ${cause.error_description}.`
      : 'The sign-in was refused, as you asked.'
  }
  return 'This code is not valid, was used or has expired. Check the code on the computer that shows it and try again.'
}

/** Failures after which a retry may succeed: the client then keeps its refresh token. */
const temporaryFailures: readonly ErrorCode[] = ['unavailable', 'upstream_failed', 'too_many_requests']

async function currentClaims(accounts: IssuerAccounts, subject: string): Promise<IssuerClaims | undefined> {
  try {
    return await accounts.claims(subject)
  } catch (error) {
    if (isAppError(error) && temporaryFailures.includes(error.code))
      throw new errors.TemporarilyUnavailable('GitHub does not answer: try again shortly')
    // The grant stays: with a role again, the same refresh token works again.
    if (isAppError(error, 'forbidden')) throw new errors.AccessDenied(error.message)
    throw error
  }
}

async function accountFor(deps: IssuerConfigurationDeps, subject: string, issuing: boolean): Promise<Account | undefined> {
  const { accounts } = deps
  // Before a token is issued only existence matters; groups are read from GitHub when a token is issued.
  if (!issuing) return (await accounts.exists(subject)) ? { accountId: subject, claims: () => ({ sub: subject }) } : undefined
  const claims = await currentClaims(accounts, subject)
  if (claims === undefined) return undefined
  return {
    accountId: subject,
    async claims(use) {
      if (use === 'id_token') await accounts.recordIssued(subject, claims)
      return { sub: subject, login: claims.login, groups: [...claims.groups] }
    },
  }
}

/** The configuration for the library; `keys` are those of the present period (rotating-issuer.ts). */
export function issuerConfiguration(deps: IssuerConfigurationDeps): Configuration {
  const { keys, pages } = deps
  const cookie = { httpOnly: true, secure: true, sameSite: 'lax', signed: true } as const
  return {
    adapter: createRecordAdapter({
      store: deps.records,
      pace: deps.pace,
      grace: createRefreshGrace({ store: deps.records, now: deps.now, replayed: deps.accounts.recordReplayed }),
      now: deps.now,
    }),
    clients: [kubernetesClient],
    jwks: { keys: keys.privateKeys.map(key => ({ ...key })) as NonNullable<Configuration['jwks']>['keys'] },
    enabledJWA: { idTokenSigningAlgValues: ['ES256'] },
    scopes: ['openid', 'offline_access', 'groups', 'profile'],
    claims: { openid: ['sub', 'login', 'groups'] },
    conformIdTokenClaims: false,
    responseTypes: ['code'],
    pkce: { required: () => true },
    clientBasedCORS: () => false,
    acceptQueryParamAccessTokens: false,
    cookies: {
      names: { session: issuerSessionCookie, interaction: 'sekisho-interaction', resume: 'sekisho-resume' },
      keys: [keys.cookieKey.reveal()],
      long: cookie,
      short: cookie,
    },
    features: {
      devInteractions: { enabled: false },
      userinfo: { enabled: false },
      revocation: { enabled: true, allowedPolicy: async (_ctx, client, token) => token.clientId === client.clientId },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: async ctx => show(ctx, pages.endSession(formOf(ctx, 'end_session_confirm'))),
        postLogoutSuccessSource: async ctx => show(ctx, pages.sessionEnded()),
      },
      deviceFlow: {
        enabled: true,
        mask: '****-****',
        userCodeInputSource: async (ctx, _form, out, error) =>
          show(ctx, pages.deviceCode(formOf(ctx, 'code_verification'), codeError(out, error))),
        // biome-ignore lint/complexity/useMaxParams: the library passes five arguments
        userCodeConfirmSource: async (ctx, _form, client, info, userCode) =>
          show(
            ctx,
            pages.deviceConfirmation(formOf(ctx, 'code_verification'), {
              clientName: client.clientName ?? client.clientId,
              userCode,
              address: String(info['ip'] ?? 'unknown'),
              agent: String(info['ua'] ?? 'unknown').slice(0, 200),
            }),
          ),
        successSource: async ctx => show(ctx, pages.deviceDone()),
      },
    },
    findAccount: (_ctx, subject, token) => accountFor(deps, subject, token !== undefined),
    interactions: {
      url: (_ctx, interaction) => `${issuerPaths.interaction}/${interaction.uid}`,
      policy: interactionPolicy.base(),
    },
    issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    expiresWithSession: async () => false,
    rotateRefreshToken: true,
    renderError: async (ctx, out) => show(ctx, pages.problem(out.error_description ?? out.error)),
    routes: {
      authorization: issuerPaths.authorization,
      code_verification: issuerPaths.device,
      device_authorization: issuerPaths.deviceAuthorization,
      end_session: issuerPaths.endSession,
      jwks: issuerPaths.keys,
      revocation: issuerPaths.revocation,
      token: issuerPaths.token,
    },
    ttl: {
      AccessToken: idTokenLifeSeconds,
      AuthorizationCode: 60,
      DeviceCode: minutes(10),
      Grant: refreshLongestSeconds,
      IdToken: idTokenLifeSeconds,
      Interaction: minutes(10),
      // The idle time of each rotation, bounded by the longest lifetime since the first sign-in.
      RefreshToken: (_ctx, token) => Math.max(1, Math.min(refreshIdleSeconds, refreshLongestSeconds - token.totalLifetime())),
      Session: hours(1),
    },
  }
}
