// By which names the crash switch knows the requests of the process under test, and what that sees of an API server that
// other environments use as well. Names are the same in every environment: what differs is left out, because a write that
// has another name in each is never reached.
import { platformNamespace } from '../../src/api/names.ts'
import { kinds } from '../../src/api/registry.ts'
import type { View } from './chaos-proxy/chaos-proxy.ts'
import { isWrite, type RequestFacts } from './chaos-proxy/request-facts.ts'

/** The objects that the process under test may observe. */
export type VisibleScope = {
  /** Prefix of the names of this environment's namespaces and cluster-scoped objects. */
  readonly prefix: string
  /** The environment's only namespace, if it has exactly one. */
  readonly namespace: string | undefined
  /** Cluster-scoped objects that all environments share. */
  readonly shared: readonly string[]
}

const clusterWide = new Set([
  ...kinds.filter(({ namespaced }) => !namespaced).map(({ plural }) => plural),
  'namespaces',
  'clusterbuilders',
  'customresourcedefinitions',
  'runtimeclasses',
])

/** Lists and watches are restricted to the namespace if the environment has one, and filtered. */
export function viewOf({ prefix, namespace: only, shared }: VisibleScope): View {
  return {
    pathOf({ verb, path, resource, namespace }) {
      const isNarrowed = only !== undefined && namespace === undefined && !clusterWide.has(resource)
      if (!isNarrowed || (verb !== 'list' && verb !== 'watch')) return path
      const end = path.lastIndexOf('/')
      return `${path.slice(0, end)}/namespaces/${only}${path.slice(end)}`
    },
    shows({ name, namespace }) {
      if (namespace !== undefined && namespace !== platformNamespace) return namespace.startsWith(prefix)
      return name.startsWith(prefix) || shared.includes(name)
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
