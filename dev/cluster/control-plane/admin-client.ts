// Plain JSON calls to an API server for the set-up of development and tests: get, create, apply, delete, ready.
// It is not the client of the product: it has no retries, no watches and no cache.
import { Agent, fetch } from 'undici'
import { AppError } from '../../../src/lib/errors.ts'
import { defined } from '../../../src/lib/json/defined.ts'
import type { ClientAccess } from './kubeconfig.ts'
import { readKubeconfig } from './kubeconfig.ts'

export type Manifest = {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: Readonly<Record<string, unknown>>
} & Readonly<Record<string, unknown>>

export type Answer = { readonly status: number; readonly body: unknown }

export type AdminClient = {
  readonly server: string
  /** Any request; resolves to the response whatever its status. Paths start with `/`. */
  readonly request: (method: string, path: string, body?: unknown, contentType?: string) => Promise<Answer>
  /** As `request`, but a status of 400 or above throws an AppError that names method, path and the server's message. */
  readonly call: (method: string, path: string, body?: unknown, contentType?: string) => Promise<unknown>
  /** Server-side apply under the field manager `sekisho-dev`; `path` names the object. */
  readonly apply: (path: string, manifest: Manifest) => Promise<unknown>
  readonly ready: () => Promise<boolean>
  readonly close: () => Promise<void>
}

const requestMilliseconds = 30_000

function messageIn(body: unknown): string {
  return typeof body === 'object' && body !== null && 'message' in body ? String(body.message) : String(body).slice(0, 300)
}

export function createAdminClient(access: ClientAccess): AdminClient {
  const agent = new Agent({
    connect: {
      ...defined({ ca: access.certificateAuthority }),
      ...(access.certificate === undefined || access.key === undefined ? {} : { cert: access.certificate, key: access.key }),
    },
  })
  const request: AdminClient['request'] = async (method, path, body, contentType = 'application/json') => {
    const response = await fetch(new URL(path, access.server), {
      method,
      dispatcher: agent,
      signal: AbortSignal.timeout(requestMilliseconds),
      headers: {
        accept: 'application/json',
        ...(access.token === undefined ? {} : { authorization: `Bearer ${access.token}` }),
        ...(body === undefined ? {} : { 'content-type': contentType }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    const json = response.headers.get('content-type')?.startsWith('application/json') ?? false
    return { status: response.status, body: json ? JSON.parse(text) : text }
  }
  const call: AdminClient['call'] = async (method, path, body, contentType) => {
    const answer = await request(method, path, body, contentType)
    if (answer.status >= 400)
      throw new AppError('upstream_failed', `${method} ${path}: ${answer.status} ${messageIn(answer.body)}`)
    return answer.body
  }
  return {
    server: access.server,
    request,
    call,
    apply: (path, manifest) =>
      call('PATCH', `${path}?fieldManager=sekisho-dev&force=true`, manifest, 'application/apply-patch+yaml'),
    ready: async () => (await request('GET', '/readyz')).status === 200,
    close: () => agent.close(),
  }
}

export async function adminClientFor(kubeconfig: string): Promise<AdminClient> {
  return createAdminClient(await readKubeconfig(kubeconfig))
}
