// By which names the crash switch knows the requests of the process under test, and what that sees of an API server that
// other environments use as well. Names are the same in every environment: what differs is left out, because a write that
// has another name in each is never reached.
import { platformNamespace } from '../../src/api/names.ts'
import { kinds } from '../../src/api/registry.ts'
import type { View, WholeRequest } from './chaos-proxy/chaos-proxy.ts'
import { isWrite, type RequestFacts } from './chaos-proxy/request-facts.ts'

/** The objects that the process under test may observe. */
export type VisibleScope = {
  /** Prefix of the names of this environment's namespaces and cluster-scoped objects. */
  readonly prefix: string
  /** The environment's only namespace, if it has exactly one. */
  readonly namespace: string | undefined
}

const clusterWide = new Set([
  ...kinds.filter(({ namespaced }) => !namespaced).map(({ plural }) => plural),
  'namespaces',
  'clusterbuilders',
  'customresourcedefinitions',
  'runtimeclasses',
])

/** Lists and watches are restricted to the namespace if the environment has one, and filtered. */
export function viewOf({ prefix, namespace: only }: VisibleScope): View {
  return {
    pathOf({ verb, path, resource, namespace }) {
      const isNarrowed = only !== undefined && namespace === undefined && !clusterWide.has(resource)
      if (!isNarrowed || (verb !== 'list' && verb !== 'watch')) return path
      const end = path.lastIndexOf('/')
      return `${path.slice(0, end)}/namespaces/${only}${path.slice(end)}`
    },
    shows({ name, namespace }) {
      if (namespace !== undefined && namespace !== platformNamespace) return namespace.startsWith(prefix)
      return name.startsWith(prefix)
    },
  }
}

const verbs: Readonly<Record<string, string>> = { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' }

/** The name without the prefix, hashes and generated names. */
function plainName({ name, resource }: RequestFacts, prefix: string): string {
  if (name === undefined || resource === 'events') return ''
  return ` ${name.replaceAll(prefix, 'w').replace(/-[0-9a-f]{12}$/, '-#')}`
}

/** Such as `kubernetes: patch tenants/status w`. */
export function kubernetesWrite(prefix: string): (facts: RequestFacts) => string | undefined {
  return facts => {
    if (!isWrite(facts)) return undefined
    const { method, resource, subresource, namespace } = facts
    const sub = subresource === undefined ? '' : `/${subresource}`
    const build = namespace?.endsWith('-build') === true ? ' in build' : ''
    return `kubernetes: ${verbs[method]} ${resource}${sub}${plainName(facts, prefix)}${build}`
  }
}

/** Every request that changes something is a write (minting and revoking tokens above all); git fetches are not. */
export function gitHubWrite({ method, path }: RequestFacts): string | undefined {
  if (method === 'GET' || method === 'HEAD' || path.endsWith('/git-upload-pack')) return undefined
  return `github: ${method} ${path.replace(/^\/api\/v3/, '').replaceAll(/\/([0-9a-f]{40}|\d+)(?=\/|$)/g, '/#')}`
}

/** The deletion of a manifest is a write. Pushes are those of builds, which are not the process under test. */
export const registryWrite = ({ method }: RequestFacts): string | undefined =>
  method === 'DELETE' ? 'registry: DELETE manifest' : undefined

/** Names that data-services gives on a server of tenants are hashes; each task adds a few digits. */
export function plainServerNames(text: string): string {
  return text.replaceAll(/([bps]?)[a-z2-7]{26}(_[0-9a-f]{12}\b)?/g, '$1#').replaceAll(/\b[0-9a-f]{16}\b/g, '#')
}

/** A request to a store of buckets by S3 or by IAM's Query API, such as `store: PUT /b#?cors` or `store: CreateUser u-#-a`. */
export function storeWrite({ method }: Pick<RequestFacts, 'method'>, { url, body }: WholeRequest): string | undefined {
  if (method === 'GET' || method === 'HEAD') return undefined
  const { pathname, searchParams: query } = new URL(url, 'http://store')
  const form = pathname === '/' ? new URLSearchParams(body.toString('utf8')) : new URLSearchParams()
  const action = form.get('Action')
  if (action !== null)
    return /^(Get|List)/.test(action) ? undefined : `store: ${action} ${plainServerNames(form.get('UserName') ?? '')}`
  // Of a subresource, such as `cors`; the others are of the request.
  const of = [...query].flatMap(([name, value]) => (value === '' ? [`?${name}`] : []))
  return `store: ${method} ${plainServerNames(pathname)}${of.join('')}`
}

const changing = /^(alter|comment|create|delete|do|drop|grant|insert|reassign|revoke|update)\b/i
const namedWords = 7

/** A statement on a server of tenants, such as `GRANT o_# TO l_#_a`: the beginning of what changes it. */
export function serverStatement(sql: string): string | undefined {
  if (sql.includes('pg_terminate_backend')) return 'end sessions'
  const text = sql.trim()
  if (!changing.test(text)) return undefined
  return plainServerNames(text.replaceAll('"', '')).split(/\s+/).slice(0, namedWords).join(' ')
}
