// Sends the attempts and reads from each answer whether it was refused, and by whom. Nothing counts as refused by default: an
// answer that is neither a refusal nor a success is unknown.
import { serviceAccounts } from '../../api/builtin/index.ts'
import { platformNamespace } from '../../api/names.ts'
import type { KubeObject, ResourceType } from '../../api/resource.ts'
import { wallProbeAccount } from '../../api/wall-names.ts'
import type { KubeClient, NewObject } from '../../kube/client/client.ts'
import { isKubeError, type KubeError, lacksRight } from '../../kube/client/errors.ts'
import { messageOf } from '../../lib/errors.ts'
import { objectAt, textAt } from '../../lib/json/json-value.ts'
import { untilAborted } from '../../lib/limits/until-aborted.ts'
import { SecretString } from '../../lib/secret-string.ts'
import { type Attempt, fieldManager } from './attempts.ts'
import type { Finding, Place, Round } from './finding.ts'

export type Clients = {
  /** That of the controllers. */
  readonly client: Pick<KubeClient, 'get' | 'list' | 'create'>
  /** A client with this credential and no other; close it. */
  readonly clientWith: (token: SecretString) => Clients['client'] & { readonly close: () => Promise<void> }
}

/** Ten minutes are the shortest life that the API server gives. */
const expirationSeconds = 600
const tokens: ResourceType = {
  ...serviceAccounts,
  kind: 'TokenRequest',
  plural: `serviceaccounts/${wallProbeAccount}/token`,
}

/** Of the ServiceAccount without rights. Rejects when the API server gives none. */
async function tokenOfNobody(client: Clients['client']): Promise<SecretString> {
  const request = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    metadata: { namespace: platformNamespace },
    spec: { expirationSeconds },
  } as NewObject<KubeObject>
  const answer = await client.create(tokens, request, { fieldManager })
  const token = textAt(objectAt(answer, 'status'), 'token')
  if (token === undefined || token === '') throw new Error('the API server gave no token')
  return new SecretString(token)
}

/**
 * Never rejects. What was not tried when the signal is aborted, because the round took too long, is not known.
 */
export async function tryWalls(clients: Clients, attempts: readonly Attempt[], signal: AbortSignal): Promise<Round> {
  const own = await roundOf(clients.client, attempts, 'controllers', signal)
  try {
    const nobody = clients.clientWith(await untilAborted(tokenOfNobody(clients.client), signal))
    try {
      const others = await roundOf(nobody, attempts, 'nobody', signal)
      return { looked: [...own.looked, ...others.looked], findings: [...own.findings, ...others.findings] }
    } finally {
      await nobody.close()
    }
  } catch (error) {
    const text = `no token of the ServiceAccount ${wallProbeAccount}: ${messageOf(error)}`
    const untried = new Set(attempts.filter(({ as }) => as === 'nobody').map(({ wall }) => wall))
    const unknown = [...untried].map((wall): Finding => ({ wall, verdict: 'Unknown', text }))
    return { looked: own.looked, findings: [...own.findings, ...unknown] }
  }
}

/** Each place, and each wall in the whole cluster, about which a round without a token says something. */
function placesOf(attempts: readonly Attempt[]): readonly Place[] {
  return attempts.flatMap(({ wall, where }) => (where === undefined ? [{ wall }] : [{ wall }, { wall, where }]))
}

/** One after the other: they are few, and must not look like a flood. */
async function roundOf(
  client: Clients['client'],
  attempts: readonly Attempt[],
  as: Attempt['as'],
  signal: AbortSignal,
): Promise<Round> {
  const [findings, tried]: [Finding[], Attempt[]] = [[], []]
  for (const attempt of attempts.filter(one => one.as === as)) {
    const finding = signal.aborted ? untriedOf(attempt) : await findingOf(client, attempt, signal)
    if (finding !== undefined) findings.push(finding)
    if (!signal.aborted) tried.push(attempt)
  }
  return { looked: placesOf(tried), findings }
}

const placeOf = ({ wall, where }: Attempt): Place => (where === undefined ? { wall } : { wall, where })

function untriedOf(attempt: Attempt): Finding {
  const text = `it was not tried to ${attempt.what}: the round took too long, because the API server is slow`
  return { ...placeOf(attempt), verdict: 'Unknown', text }
}

async function findingOf(client: Clients['client'], attempt: Attempt, signal: AbortSignal): Promise<Finding | undefined> {
  const { what, as, send } = attempt
  const at = placeOf(attempt)
  const who = as === 'nobody' ? `the ServiceAccount ${wallProbeAccount}, which has no right,` : 'a dry run of the controllers'
  const off = (how: string): Finding => ({ ...at, verdict: 'Off', text: `${who} was allowed to ${what} (${how})` })
  try {
    await untilAborted(send(client), signal)
    return off('it succeeded')
  } catch (error) {
    if (signal.aborted) return untriedOf(attempt)
    if (!isKubeError(error)) return { ...at, verdict: 'Unknown', text: `${what}: ${messageOf(error)}` }
    const answer = as === 'nobody' ? answerToNobody(error) : answerToControllers(error, attempt)
    if (answer === 'refused') return undefined
    if (answer === 'unknown') return { ...at, verdict: 'Unknown', text: `${what}: ${error.message}` }
    return off(error.status === 403 ? `only a wall behind it refused: ${error.message}` : `HTTP ${error.status}`)
  }
}

type Answer = 'refused' | 'allowed' | 'unknown'

/** What is said about the object is said to whoever the authorizer let through. */
const afterAuthorization: ReadonlySet<number> = new Set([400, 404, 405, 409, 415, 422])

/** Only the authorizer refuses for want of a right; admission is asked after it, so that its refusal says that RBAC is open. */
export function answerToNobody(error: KubeError): Answer {
  if (error.status === 403) return lacksRight(error) ? 'refused' : 'allowed'
  return afterAuthorization.has(error.status) ? 'allowed' : 'unknown'
}

/** RBAC allows it: a refusal counts only from the wall that is tried. */
export function answerToControllers(error: KubeError, { refusedBy, behind }: Pick<Attempt, 'refusedBy' | 'behind'>): Answer {
  if (error.status !== 403 || lacksRight(error)) return 'unknown'
  if (refusedBy?.test(error.message)) return 'refused'
  return behind?.test(error.message) ? 'allowed' : 'unknown'
}
