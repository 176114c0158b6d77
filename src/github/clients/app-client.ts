// The client of GitHub as the App itself: facts about the App and its installations, minting and revoking installation tokens,
// webhook deliveries. Every mint is a direct request with explicit repositories and permissions; caching, quota and audit
// belong to the token desk.
import type { Clock } from '../../lib/clock.ts'
import { AppError, isAppError } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { SecretString } from '../../lib/secret-string.ts'
import { type Delivery, deliveryPage } from '../delivery.ts'
import type { GitHubEndpoints } from '../endpoints.ts'
import {
  accountInstallation,
  type InstallationFacts,
  installationFacts,
  type ReportedPermissions,
  reportedPermissions,
} from '../installation-facts.ts'
import { type MintedToken, type MintRequest, mintBody, mintedToken, tokenIn } from '../minted-token.ts'
import type { Signer } from '../signing/signer.ts'
import { integerAt, listOf, objectAt, recordOf, textAt } from '../transport/answer.ts'
import type { Fetch } from '../transport/bounded-fetch.ts'
import { createCircuit } from '../transport/circuit.ts'
import { githubFailure } from '../transport/failure.ts'
import { createClient } from '../transport/github-requests.ts'
import { createMintPace } from '../transport/mint-pace.ts'
import type { GitHubObserver } from '../transport/observed-fetch.ts'
import { createAppSigner } from './app-jwt.ts'
import { type OrganizationReader, organizationReader } from './organization-reader.ts'
import { createTokenRevoker } from './token-revoker.ts'

export type AppClientDeps = {
  readonly endpoints: GitHubEndpoints
  readonly appId: number
  readonly clientId: string
  /** One, or two during a rotation; tried in order. */
  readonly signers: readonly Signer[]
  /** Decides the share of this process in the App's pace of new tokens. Default: no other process acts as the App. */
  readonly isLeader?: () => boolean
  readonly log: Log
  readonly clock: Clock
  readonly fetch?: Fetch
  /** Learns of every answer to the App itself. */
  readonly observe?: GitHubObserver
}

/** The App's own registration. Permissions are those it requests of installations. */
export type AppFacts = {
  readonly id: number
  readonly slug: string
  readonly name: string
  readonly permissions: ReportedPermissions
}

/** At most a hundred installations. */
export type InstallationPage = {
  readonly etag: string | undefined
  readonly installations: readonly InstallationFacts[]
  readonly hasNext: boolean
}

const webhookEncodings = ['json', 'form'] as const
export type WebhookEncoding = (typeof webhookEncodings)[number]

/** All methods throw AppError: see failure.ts for codes and reasons. */
export type AppClient = {
  readonly app: () => Promise<AppFacts>
  /**
   * Why no token would be requested of GitHub now: it is unreachable, asked us to wait, nobody signs, or many were requested for
   * this installation or the App; undefined when one would be.
   */
  readonly mintRefusal: (installationId: number) => AppError | undefined
  /** undefined when this App does not have such an installation. */
  readonly installation: (id: number) => Promise<InstallationFacts | undefined>
  /**
   * One page of all installations of the App, from 1 on. `known` is that page of an earlier list: where GitHub says that it is
   * the same it is returned, and the request does not count against the App's limit.
   */
  readonly installationPage: (page: number, known?: InstallationPage) => Promise<InstallationPage>
  /**
   * Refuses an empty or unbounded request before anything is sent, and never retries. The caller must compare the token with
   * its request before anybody receives it. A token whose answer is not understood is revoked.
   */
  readonly mint: (request: MintRequest) => Promise<MintedToken>
  /** Only for the platform's own checks of an organisation's people: a token that reads members and nothing of any repository. */
  readonly mintOrganizationReader: (installationId: number) => Promise<OrganizationReader>
  /** As `TokenRevoker`; a token of a suspended installation is an error, too. */
  readonly revoke: (token: SecretString, options?: { readonly fresh?: boolean }) => Promise<void>
  /** One page of at most 100 webhook deliveries, the youngest first; the next page by its cursor. */
  readonly deliveries: (options?: {
    readonly cursor?: string
  }) => Promise<{ readonly deliveries: readonly Delivery[]; readonly nextCursor: string | undefined }>
  /**
   * How GitHub encodes what it sends to the webhook of the App; undefined when the App has none, or of another encoding.
   * https://docs.github.com/en/rest/apps/webhooks#get-a-webhook-configuration-for-an-app
   */
  readonly webhookEncoding: () => Promise<WebhookEncoding | undefined>
  /** GitHub sends the delivery once more. */
  readonly redeliver: (deliveryId: string) => Promise<void>
}

const pageSize = 100
const tokenLifeMilliseconds = 3_600_000
/** A Date header has whole seconds, and GitHub's servers have clocks of their own. */
const clockStepMilliseconds = 5000
const mintRoute = 'POST /app/installations/{installation_id}/access_tokens'

/** One client for each App: it holds the App's circuit, its clock correction and its preferred key. */
export function createAppClient(deps: AppClientDeps): AppClient {
  const name = `${deps.endpoints.host}:${deps.appId}`
  const circuit = createCircuit(deps.clock)
  const client = createClient({ ...deps, circuit }, `app:${name}`)
  // GitHub wants a second between writes: a hundred redeliveries must not make mints wait for minutes.
  const redelivering = createClient({ ...deps, circuit }, `deliveries:${name}`)
  const revokeAt = createTokenRevoker(deps)
  // Lists wait for each other only: a hundred pages must not stand before a mint.
  const listing = createClient({ ...deps, circuit }, `installations:${name}`)
  // Octokit sends one token request at a time for each bucket: one that GitHub does not answer must not stop those of other
  // tenants.
  const minting = (installationId: number) => createClient({ ...deps, circuit }, `mint:${name}:${installationId}`)
  const signed = createAppSigner(deps)
  const pace = createMintPace(deps.clock, deps.isLeader ?? (() => true))
  const mintRefusal: AppClient['mintRefusal'] = installationId =>
    circuit.refusal() ?? signed.refusal() ?? pace.refusal(installationId)

  const signedRequest = async <T>(route: string, request: (authorization: string) => Promise<T>): Promise<T> => {
    // Before the client's queue: a request that will be refused should not wait in it.
    const refused = circuit.refusal()
    if (refused !== undefined) throw refused
    try {
      return await signed.run(request)
    } catch (error) {
      throw githubFailure(error, route, deps.clock.now())
    }
  }
  const asApp = (route: string, parameters: Readonly<Record<string, unknown>>, through = client) =>
    signedRequest(route, authorization => through.raw(route, parameters, authorization))

  const revoke: AppClient['revoke'] = async (token, options) => {
    const result = await revokeAt(deps.endpoints.api, token, options)
    if (result === 'suspended')
      throw new AppError('unavailable', 'the token cannot be revoked while its installation is suspended')
  }

  /** A token must not stay active when the rest of the answer cannot be read. */
  const readOrRevoke = async <T>(answer: unknown, read: (answer: unknown) => T): Promise<T> => {
    try {
      return read(answer)
    } catch (error) {
      await revoke(tokenIn(answer))
      throw error
    }
  }

  const post = async (installationId: number, body: Readonly<Record<string, unknown>>) => {
    if (!Number.isSafeInteger(installationId) || installationId < 1)
      throw new AppError('invalid_request', 'installationId must be a positive whole number')
    const refused = mintRefusal(installationId)
    if (refused !== undefined) throw refused
    pace.take(installationId)
    const parameters = { installation_id: installationId, ...body, request: { retries: 0 } }
    return asApp(mintRoute, parameters, minting(installationId))
  }

  return {
    mintRefusal,
    async app() {
      const { data } = await asApp('GET /app', {})
      const answer = recordOf(data, 'app')
      return {
        id: integerAt(answer, 'id', 'app'),
        slug: textAt(answer, 'slug', 'app'),
        name: textAt(answer, 'name', 'app'),
        permissions: reportedPermissions(objectAt(answer, 'permissions', 'app')),
      }
    },
    async installation(id) {
      const answer = await unlessAbsent(() => asApp('GET /app/installations/{installation_id}', { installation_id: id }))
      return answer && installationFacts(answer.data)
    },
    async installationPage(page, known) {
      const route = 'GET /app/installations'
      const answer = await signedRequest(route, authorization =>
        listing.rawUnless(known?.etag, route, { per_page: pageSize, page }, authorization),
      )
      if (answer !== undefined) return installationPage(answer.data, answer.headers)
      if (known !== undefined) return known
      throw new AppError('upstream_failed', `GitHub answered 304 to ${route} without a condition`)
    },
    async mint(request) {
      const { data, headers } = await post(request.installationId, mintBody(request))
      const minted = await readOrRevoke(data, mintedToken)
      return { ...minted, expiresAt: byOurClock(minted.expiresAt, headers['date'], deps.clock.now()) }
    },
    async mintOrganizationReader(installationId) {
      const { data } = await post(installationId, { permissions: { members: 'read' } })
      return readOrRevoke(data, organizationReader)
    },
    revoke,
    async deliveries(options = {}) {
      // The body as it is: Octokit would round the ids.
      const parameters = { per_page: pageSize, ...options, request: { parseSuccessResponseBody: false } }
      const { data, headers } = await asApp('GET /app/hook/deliveries', parameters, redelivering)
      return deliveryPage({ body: data instanceof ReadableStream ? await new Response(data).text() : '', headers })
    },
    async webhookEncoding() {
      const answer = await unlessAbsent(() => asApp('GET /app/hook/config', {}))
      const said = answer && recordOf(answer.data, 'webhook configuration')['content_type']
      return webhookEncodings.find(encoding => encoding === said)
    },
    async redeliver(deliveryId) {
      if (!/^[0-9]{1,20}$/.test(deliveryId)) throw new AppError('invalid_request', 'deliveryId must be a number')
      await asApp('POST /app/hook/deliveries/{delivery_id}/attempts', { delivery_id: deliveryId }, redelivering)
    },
  }
}

/** Undefined for what GitHub does not have. */
async function unlessAbsent<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask()
  } catch (error) {
    if (isAppError(error, 'not_found')) return undefined
    throw error
  }
}

/** A full page may have a next one that was added since GitHub last changed the page: it is asked for, too. */
function installationPage(data: unknown, headers: Readonly<Record<string, string | number | undefined>>): InstallationPage {
  const installations = listOf(data, 'installations').flatMap(item => accountInstallation(item) ?? [])
  const { etag, link } = headers
  const hasNext = listOf(data, 'installations').length >= pageSize || /;\s*rel="?next"?/.test(String(link ?? ''))
  return { etag: typeof etag === 'string' ? etag : undefined, installations, hasNext }
}

/**
 * Converts GitHub's expiry to our clock: the remaining lifetime according to GitHub's `Date` header, added to our current time.
 * Without a plausible `Date` header it stays GitHub's time. A difference between the clocks does not make it more than an hour,
 * the longest lifetime of a token; but a token that GitHub itself says lives longer keeps its end, so that the caller can
 * refuse it.
 */
function byOurClock(expiresAt: Date, date: string | number | undefined, now: Date): Date {
  const left = expiresAt.getTime() - Date.parse(String(date ?? ''))
  const end = left > 0 ? now.getTime() + left : expiresAt.getTime()
  const longest = now.getTime() + tokenLifeMilliseconds
  const isByGitHub = left > tokenLifeMilliseconds + clockStepMilliseconds
  return new Date(isByGitHub || end > longest + tokenLifeMilliseconds ? end : Math.min(end, longest))
}
