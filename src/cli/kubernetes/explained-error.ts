// What the API server refused or did not answer, as a sentence with its cure for the person who ran a command. Pure, except
// that it loads the table of roles when a right is missing.
import { platformNamespace } from '../../api/names.ts'
import { isKubeError, type KubeError, lacksRight, missingRight } from '../../kube/client/errors.ts'
import { AppError, type ErrorCode } from '../../lib/errors.ts'
import { causeCode, isUnknownAuthority, validityProblem } from '../certificate-error.ts'

/** Where the request went. */
export type Destination = {
  readonly server: string
  readonly context: string
  readonly namespace: string
  /** Whether the person signs in with `sekisho login`. */
  readonly signsInWithUs: boolean
}

/** The AppError for a KubeError; any other value is returned as it is. */
export async function explained(error: unknown, destination: Destination): Promise<unknown> {
  if (!isKubeError(error)) return error
  const { server, context, namespace, signsInWithUs } = destination
  const as = (code: ErrorCode, message: string): AppError => new AppError(code, message, { cause: error })
  if (error.status === 0) return as('unavailable', unanswered(error, destination))
  if (error.status === 401)
    return as(
      'unauthenticated',
      signsInWithUs
        ? `${server} does not accept your sign-in: run sekisho login`
        : `${server} does not accept the credentials of context ${context}: sign in again, or choose another one with --context`,
    )
  if (lacksRight(error)) return as('forbidden', await rightInWords(error, namespace))
  const said = serverText(error)
  if (error.status === 403) return as('forbidden', said)
  if (error.status === 404)
    return as('not_found', `${said}: is context ${context} a Sekisho platform, and does namespace ${namespace} exist?`)
  if (error.status === 409) return as('conflict', said)
  if (error.status === 422 || error.status === 400) return as('invalid_request', said)
  if (error.status === 429) return as('too_many_requests', said)
  return as(error.retryable ? 'unavailable' : 'upstream_failed', error.message)
}

function unanswered(error: KubeError, { server, context }: Destination): string {
  const code = causeCode(error)
  if (isUnknownAuthority(error))
    return `the certificate of ${server} is signed by an authority that context ${context} does not name: run sekisho kubeconfig again, or set certificate-authority in the kubeconfig`
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `the certificate of ${server} is for another host name: correct the server of context ${context}, or run sekisho kubeconfig again`
  const validity = validityProblem(error)
  if (validity !== undefined) return `the certificate of ${server} ${validity}`
  return `${server} does not answer (${code ?? error.reason}): check your network, or choose another context with --context (now ${context})`
}

/** The words of the server, without the request before them and the name of the webhook or policy in them. */
function serverText({ message }: KubeError): string {
  const said = /^.*?: \d{3} \w+: (.*)$/s.exec(message)?.[1] ?? message
  return said.replace(/^.*? denied (the )?request: /s, '')
}

const verbsInWords: Readonly<Record<string, string>> = {
  get: 'read',
  list: 'list',
  watch: 'watch',
  patch: 'change',
  update: 'change',
}

async function rightInWords(error: KubeError, chosen: string): Promise<string> {
  const { verb = '', resource = '', group = '', namespace = chosen } = missingRight(error) ?? {}
  const refused = `you may not ${verbsInWords[verb] ?? verb} ${resource} in ${namespace}`
  if (namespace === platformNamespace) return `${refused}, the namespace of the platform: its admins may`
  const { roleWith } = await import('./role-with.ts')
  const role = roleWith(group, resource, verb)
  if (role === undefined) return `${refused}: no role of a tenant allows it`
  return `${refused}: it takes the role ${role} of the tenant. sekisho whoami shows your roles; a tenant admin gives roles to GitHub teams; -n names another namespace`
}
