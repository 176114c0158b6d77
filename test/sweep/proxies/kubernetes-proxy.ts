// The proxy in front of the API server. It shows the process under test only the objects of its own environment, so that environments can run in
// parallel on one API server: lists and watches are restricted to the namespace if the environment has one, and filtered otherwise.
import { Transform } from 'node:stream'
import { platformNamespace } from '../../../src/api/names.ts'
import type { CrashSwitch } from './crash-switch.ts'
import { type CrashProxy, openHttpProxy, type Upstream } from './http-proxy.ts'

/** The objects that the process under test may observe. */
export type VisibleScope = {
  /** Prefix of the names of this environment's namespaces and cluster-scoped objects. */
  readonly prefix: string
  /** The environment's only namespace, if it has exactly one. */
  readonly namespace: string | undefined
  /** Cluster-scoped objects that all environments share. */
  readonly shared: readonly string[]
}

type Target = {
  readonly group: string
  readonly namespace: string | undefined
  readonly resource: string
  readonly name: string | undefined
  readonly subresource: string | undefined
}

const path = /^\/(?:api|apis\/([^/]+))\/([^/]+)(?:\/namespaces\/([^/]+))?\/([^/]+)(?:\/([^/]+))?(?:\/([^/]+))?$/

function targetOf({ pathname }: URL): Target | undefined {
  const match = path.exec(pathname)
  if (!match) return undefined
  const [, group = '', , namespace, resource = '', name, subresource] = match
  return { group, namespace, resource, name, subresource }
}

const clusterWide = new Set([
  'tenants',
  'domainclaims',
  'clustergithubapps',
  'applicationcharts',
  'namespaces',
  'clusterbuilders',
  'customresourcedefinitions',
  'runtimeclasses',
])
const verbs: Readonly<Record<string, string>> = { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' }

/** The name without what differs between environments: the prefix, hashes and generated names. */
function plainName(name: string | undefined, resource: string, prefix: string): string {
  if (name === undefined || resource === 'events') return ''
  return ` ${decodeURIComponent(name)
    .replaceAll(prefix, 'w')
    .replace(/-[0-9a-f]{12}$/, '-#')}`
}

function writeName(scope: VisibleScope, method: string, url: URL): string | undefined {
  const verb = verbs[method]
  const target = targetOf(url)
  // Reviews are queries in the form of a create.
  if (verb === undefined || target === undefined || target.resource.endsWith('reviews')) return undefined
  const { resource, name, subresource, namespace } = target
  // /api/v1/namespaces/x names a namespace, not an object in it.
  const build = namespace?.endsWith('-build') ? ' in build' : ''
  const sub = subresource === undefined ? '' : `/${subresource}`
  return `kubernetes: ${verb} ${resource}${sub}${plainName(name, resource, scope.prefix)}${build}`
}

type ObjectName = { readonly metadata?: { readonly name?: string; readonly namespace?: string } }

function isVisible({ prefix, shared }: VisibleScope, { metadata }: ObjectName): boolean {
  const { name = '', namespace } = metadata ?? {}
  if (namespace !== undefined && namespace !== platformNamespace) return namespace.startsWith(prefix)
  return name.startsWith(prefix) || shared.includes(name)
}

function listFilter(scope: VisibleScope): Transform {
  const chunks: Buffer[] = []
  return new Transform({
    transform(chunk: Buffer, _encoding, next) {
      chunks.push(chunk)
      next()
    },
    flush(next) {
      const list = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { readonly items?: readonly ObjectName[] }
      next(null, JSON.stringify({ ...list, items: (list.items ?? []).filter(item => isVisible(scope, item)) }))
    },
  })
}

function watchFilter(scope: VisibleScope): Transform {
  let rest = ''
  return new Transform({
    transform(chunk: Buffer, _encoding, next) {
      const lines = (rest + chunk.toString('utf8')).split('\n')
      rest = lines.pop() ?? ''
      const kept = lines.filter(line => {
        const event = JSON.parse(line) as { readonly type: string; readonly object: ObjectName }
        return event.type === 'BOOKMARK' || event.type === 'ERROR' || isVisible(scope, event.object)
      })
      next(null, kept.map(line => `${line}\n`).join(''))
    },
  })
}

export function openKubernetesProxy(crash: CrashSwitch, upstream: Upstream, scope: VisibleScope): Promise<CrashProxy> {
  const isCollection = (method: string, url: URL): boolean => {
    const target = targetOf(url)
    return method === 'GET' && target !== undefined && target.name === undefined
  }
  return openHttpProxy(crash, {
    upstream,
    writeOf: (method, url) => writeName(scope, method, url),
    rewrite(method, url) {
      const target = targetOf(url)
      if (scope.namespace === undefined || target === undefined || !isCollection(method, url)) return
      if (target.namespace !== undefined || clusterWide.has(target.resource)) return
      const end = url.pathname.lastIndexOf('/')
      url.pathname = `${url.pathname.slice(0, end)}/namespaces/${scope.namespace}${url.pathname.slice(end)}`
    },
    filterOf(method, url) {
      if (!isCollection(method, url)) return undefined
      return url.searchParams.has('watch') ? watchFilter(scope) : listFilter(scope)
    },
  })
}
