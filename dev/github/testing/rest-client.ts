// Octokit clients of an emulator, one per kind of caller, whose responses are checked against GitHub's description.
import { createAppAuth } from '@octokit/auth-app'
import { Octokit } from '@octokit/core'
import { paginateRest } from '@octokit/plugin-paginate-rest'
import type { RunningEmulator } from '../emulator.ts'
import { restRoutes } from '../rest/routes.ts'
import { describeAnswers } from './openapi.ts'

const Client = Octokit.plugin(paginateRest)
export type RestClient = InstanceType<typeof Client>

export type RestClients = {
  readonly anonymous: RestClient
  /** The App itself, with a JWT. */
  readonly app: RestClient
  /** Any caller, with a token. */
  by(token: string): RestClient
  /** A new installation token with these parameters. */
  mint(installationId: number, parameters?: Readonly<Record<string, unknown>>): Promise<string>
  readonly succeeded: ReadonlySet<string>
}

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined }

/** Clients for one emulator. */
export function createRestClients(emulator: RunningEmulator): RestClients {
  const description = emulator.context.links.flavour === 'enterprise-server' ? 'ghes-3.19' : 'api.github.com'
  const described = describeAnswers(restRoutes, emulator.apiUrl, description)
  const base = { baseUrl: emulator.apiUrl, request: { fetch: described.fetch }, log: silent }
  const app = new Client({
    ...base,
    authStrategy: createAppAuth,
    auth: { appId: emulator.app.clientId, privateKey: emulator.app.privateKeyPem },
  })
  return {
    anonymous: new Client(base),
    app,
    by: token => new Client({ ...base, auth: token }),
    mint: async (installationId, parameters = {}) => {
      const { data } = await app.request('POST /app/installations/{installation_id}/access_tokens', {
        installation_id: installationId,
        ...parameters,
      })
      return data.token
    },
    succeeded: described.succeeded,
  }
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Object.entries(value).find(([key]) => key === name)?.[1] : undefined
}

/** Status and message of a refused request; throws when it succeeded or failed otherwise. */
export async function refusal(attempt: Promise<unknown>): Promise<{ readonly status: number; readonly message: string }> {
  try {
    await attempt
  } catch (error) {
    const status = field(error, 'status')
    const message = field(field(field(error, 'response'), 'data'), 'message')
    if (typeof status === 'number' && typeof message === 'string') return { status, message }
    throw error
  }
  throw new Error('the request succeeded; expected a refusal')
}
