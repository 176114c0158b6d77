// The requests that the platform's ServiceAccounts sent, from the audit log of an API server, and how they compare with the
// rights that the ServiceAccounts have: a request that no right covers, and a verb that no request used. Pure.
import { attackUserAgent } from '../../dev/attack/world/http.ts'
import { dataServicesNamespace, platformNamespace } from '../../src/api/names.ts'
import { type Place, platformAccounts, type Right, type Verb } from '../../src/api/rights/index.ts'
import { wallProbeAccount } from '../../src/api/wall-names.ts'
import { asObject, type JsonObject, objectAt, parseJson, textAt } from '../../src/lib/json/json-value.ts'
import { fieldManager as wallProbe } from '../../src/services/wall-probe/attempts.ts'

/**
 * A request as RBAC judges it. `where` is empty for requests without a namespace; tests make up the names of tenants'
 * namespaces.
 */
export type Call = {
  readonly account: string
  readonly verb: string
  readonly group: string
  /** With the subresource: `pods/log`. */
  readonly resource: string
  readonly where: 'cluster' | 'platform' | 'data' | 'default' | 'tenant'
  readonly name: string
}

/** A watch has begun with the first; its end may come after the log was read. */
const stages = ['ResponseStarted', 'ResponseComplete']
const users = `system:serviceaccount:${platformNamespace}:`

/**
 * The calls in lines of an audit log, each once. Left out: requests that the server did not finish, that were no requests for
 * objects, and those that must be refused: of `make attack` with the tokens of the platform's processes, and of the probe of the
 * walls, whether as the account without rights or as a dry run of the controllers.
 */
export function callsIn(lines: readonly string[]): readonly Call[] {
  const found = new Map<string, Call>()
  for (const line of lines) for (const call of callsOf(line)) found.set(JSON.stringify(call), call)
  return [...found.values()]
}

export function eachOnce(calls: readonly Call[]): readonly Call[] {
  return [...new Map(calls.map(call => [JSON.stringify(call), call])).values()]
}

function callsOf(line: string): readonly Call[] {
  // Before anything is parsed: most lines are of others.
  if (!line.includes(users)) return []
  const event = asObject(parseJson(line))
  const user = textAt(objectAt(event, 'user'), 'username') ?? ''
  const target = objectAt(event, 'objectRef')
  const plural = textAt(target, 'resource')
  if (textAt(event, 'userAgent') === attackUserAgent || user === `${users}${wallProbeAccount}` || isProbed(event)) return []
  if (!stages.includes(textAt(event, 'stage') ?? '') || !user.startsWith(users) || plural === undefined) return []
  const subresource = textAt(target, 'subresource')
  const namespace = textAt(target, 'namespace')
  const call = {
    account: user.slice(users.length),
    verb: textAt(event, 'verb') ?? '',
    group: textAt(target, 'apiGroup') ?? '',
    resource: subresource === undefined ? plural : `${plural}/${subresource}`,
    where: placeOf(plural, namespace, textAt(event, 'verb')),
    name: textAt(target, 'name') ?? '',
  }
  // An apply that made the object needed the right to create it, too.
  const made = call.verb === 'patch' && objectAt(event, 'responseStatus')?.['code'] === 201
  return made ? [call, { ...call, verb: 'create' }] : [call]
}

function isProbed(event: JsonObject | undefined): boolean {
  const query = new URLSearchParams(textAt(event, 'requestURI')?.split('?')[1])
  return query.get('fieldManager') === wallProbe && query.get('dryRun') === 'All'
}

/** Of a namespace, the audit log names the namespace itself; RBAC asks in it where it exists already. */
function placeOf(plural: string, namespace: string | undefined, verb: string | undefined): Call['where'] {
  if (namespace === undefined || (plural === 'namespaces' && (verb === 'create' || verb === 'get'))) return 'cluster'
  if (namespace === platformNamespace) return 'platform'
  if (namespace === dataServicesNamespace) return 'data'
  return namespace === 'default' ? 'default' : 'tenant'
}

const placesOf: Readonly<Record<Call['where'], readonly Place[]>> = {
  cluster: ['cluster'],
  platform: ['cluster', 'platform'],
  data: ['cluster', 'data'],
  default: ['cluster', 'default'],
  // Tests give the platform's rights in namespaces of their own.
  tenant: ['cluster', 'application', 'build', 'platform'],
}

function covers(right: Right, resource: string, verb: Verb, call: Call): boolean {
  return (
    right.group === call.group &&
    resource === call.resource &&
    verb === call.verb &&
    placesOf[call.where].includes(right.place) &&
    (right.names === undefined || right.names.includes(call.name)) &&
    (right.namePrefix === undefined || call.name.startsWith(right.namePrefix))
  )
}

/** A request that the account has no right for, wherever it were bound. Secrets that an admin names are left to the admin. */
export function uncovered(calls: readonly Call[]): readonly Call[] {
  return calls.filter(call => {
    if (call.resource === 'secrets' && call.verb === 'get' && call.where === 'platform') return false
    const rights = platformAccounts.find(({ name }) => name === call.account)?.rights ?? []
    return !rights.some(right => right.resources.some(resource => right.verbs.some(verb => covers(right, resource, verb, call))))
  })
}

/** The account of the standalone form runs the programs of all others: what they used, it uses. */
const ofAllPrograms = new Set(platformAccounts.filter(({ mode }) => mode === 'standalone').map(({ name }) => name))

/** Verbs that no request used, of the ServiceAccounts that sent any request. */
export function unused(calls: readonly Call[]): readonly string[] {
  return platformAccounts.flatMap(({ name, rights }) => {
    if (!calls.some(({ account }) => account === name)) return []
    const own = ofAllPrograms.has(name) ? calls : calls.filter(({ account }) => account === name)
    return rights
      .filter(({ unseen }) => unseen === undefined)
      .flatMap(right =>
        right.resources.flatMap(resource =>
          right.verbs
            .filter(verb => !own.some(call => covers(right, resource, verb, call)))
            .map(verb => `${name}: ${verb} ${right.group}/${resource}${namesOf(right)} in ${right.place}`),
        ),
      )
  })
}

function namesOf({ names, namePrefix }: Right): string {
  if (namePrefix !== undefined) return ` ${namePrefix}…`
  return names === undefined ? '' : ` ${names.join(' ')}`
}
