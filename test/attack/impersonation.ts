// Requests to the API server under any identity, by the administrator who may impersonate. Resolves to the response whatever
// its status.
import { Agent, request } from 'undici'
import { readKubeconfig } from '../../dev/cluster/control-plane/kubeconfig.ts'
import { loginExtra } from '../../src/api/names.ts'

/** `login`: what the API server adds for people who signed in with GitHub. */
export type Identity = { readonly user: string; readonly groups: readonly string[]; readonly login?: string }
export type ApiRequest = {
  readonly method: string
  readonly path: string
  readonly body?: unknown
  /** The content type of the body; default `application/merge-patch+json` for PATCH, else `application/json`. */
  readonly type?: string | undefined
}
export type Reply = { readonly status: number; readonly message: string; readonly body: unknown }

export type Impersonation = {
  readonly as: (identity: Identity, method: string, path: string, body?: unknown) => Promise<Reply>
  readonly send: (identity: Identity, call: ApiRequest) => Promise<Reply>
  readonly close: () => Promise<void>
}

export async function impersonation(kubeconfig: string): Promise<Impersonation> {
  const access = await readKubeconfig(kubeconfig)
  // Over HTTP/2 undici joins the values of a header with commas, which would turn several groups into one invalid group.
  const agent = new Agent({
    allowH2: false,
    connect: {
      ...(access.certificateAuthority === undefined ? {} : { ca: access.certificateAuthority }),
      ...(access.certificate === undefined || access.key === undefined ? {} : { cert: access.certificate, key: access.key }),
    },
  })
  const send = async (identity: Identity, call: ApiRequest): Promise<Reply> => {
    const { method, path, body } = call
    const type = call.type ?? (method === 'PATCH' ? 'application/merge-patch+json' : 'application/json')
    const headers = {
      'impersonate-user': identity.user,
      'impersonate-group': [...identity.groups],
      ...(identity.login === undefined ? {} : { [`impersonate-extra-${encodeURIComponent(loginExtra)}`]: identity.login }),
      ...(body === undefined ? {} : { 'content-type': type }),
    }
    const response = await request(new URL(path, access.server), {
      method: method as 'GET',
      dispatcher: agent,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.body.text()
    const parsed: unknown = text.startsWith('{') ? JSON.parse(text) : text
    const message = typeof parsed === 'object' && parsed !== null && 'message' in parsed ? String(parsed.message) : ''
    return { status: response.statusCode, message, body: parsed }
  }
  const as: Impersonation['as'] = (identity, method, path, body) => send(identity, { method, path, body })
  return { as, send, close: () => agent.close() }
}
