// The proxy in front of the API server. It lets the process see the objects of its own environment only, so that environments can run side by side on one
// API server: lists and watches are narrowed to one namespace where the environment has one, and read through a filter where not.
import { Transform } from 'node:stream'
import { platformNamespace } from '../../../src/api/names.ts'
import type { CrashSwitch } from './crash-switch.ts'
import { openHttpProxy, type Proxy, type Upstream } from './http-proxy.ts'

export type Sight = {
  /** What names of this environment's namespaces and cluster-wide objects begin with. */
  readonly prefix: string
  /** Its only namespace, when it has one. */
  readonly namespace: string | undefined
  /** Cluster-wide objects that all environments share. */
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
  'clustergithubapps',
  'applicationcharts',
  'namespaces',
  'clusterbuilders',
  'customresourcedefinitions',
])
const verbs: Readonly<Record<string, string>> = { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' }

/** Names without what differs from environment to environment: the prefix, hashes and what the server makes up. */
function plainName(name: string | undefined, resource: string, prefix: string): string {
  if (name === undefined || resource === 'events') return ''
  return ` ${decodeURIComponent(name)
    .replaceAll(prefix, 'w')
    .replace(/-[0-9a-f]{12}$/, '-#')}`
}

function writeName(sight: Sight, method: string, url: URL): string | undefined {
  const verb = verbs[method]
  const target = targetOf(url)
  // Reviews are questions in the shape of a create.
  if (verb === undefined || target === undefined || target.resource.endsWith('reviews')) return undefined
  const { resource, name, subresource, namespace } = target
  // /api/v1/namespaces/x names a namespace, not something in it.
  const build = namespace?.endsWith('-build') ? ' in build' : ''
  const sub = subresource === undefined ? '' : `/${subresource}`
  return `kubernetes: ${verb} ${resource}${sub}${plainName(name, resource, sight.prefix)}${build}`
}

type Seen = { readonly metadata?: { readonly name?: string; readonly namespace?: string } }

function isVisible({ prefix, shared }: Sight, { metadata }: Seen): boolean {
  const { name = '', namespace } = metadata ?? {}
  if (namespace !== undefined && namespace !== platformNamespace) return namespace.startsWith(prefix)
  return name.startsWith(prefix) || shared.includes(name)
}

function listFilter(sight: Sight): Transform {
  const chunks: Buffer[] = []
  return new Transform({
    transform(chunk: Buffer, _encoding, next) {
      chunks.push(chunk)
      next()
    },
    flush(next) {
      const list = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { readonly items?: readonly Seen[] }
      next(null, JSON.stringify({ ...list, items: (list.items ?? []).filter(item => isVisible(sight, item)) }))
    },
  })
}

function watchFilter(sight: Sight): Transform {
  let rest = ''
  return new Transform({
    transform(chunk: Buffer, _encoding, next) {
      const lines = (rest + chunk.toString('utf8')).split('\n')
      rest = lines.pop() ?? ''
      const kept = lines.filter(line => {
        const event = JSON.parse(line) as { readonly type: string; readonly object: Seen }
        return event.type === 'BOOKMARK' || event.type === 'ERROR' || isVisible(sight, event.object)
      })
      next(null, kept.map(line => `${line}\n`).join(''))
    },
  })
}

export function openKubernetesProxy(crash: CrashSwitch, upstream: Upstream, sight: Sight): Promise<Proxy> {
  const isCollection = (method: string, url: URL): boolean => {
    const target = targetOf(url)
    return method === 'GET' && target !== undefined && target.name === undefined
  }
  return openHttpProxy(crash, {
    upstream,
    writeOf: (method, url) => writeName(sight, method, url),
    rewrite(method, url) {
      const target = targetOf(url)
      if (sight.namespace === undefined || target === undefined || !isCollection(method, url)) return
      if (target.namespace !== undefined || clusterWide.has(target.resource)) return
      const end = url.pathname.lastIndexOf('/')
      url.pathname = `${url.pathname.slice(0, end)}/namespaces/${sight.namespace}${url.pathname.slice(end)}`
    },
    filterOf(method, url) {
      if (!isCollection(method, url)) return undefined
      return url.searchParams.has('watch') ? watchFilter(sight) : listFilter(sight)
    },
  })
}
