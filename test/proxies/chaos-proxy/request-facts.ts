// The meaning of a request to the API server, read from its method and URL. Pure; it does not read the body.
// Source: Kubernetes docs, "API Concepts" (resource URIs) and "Request verbs and authorization".

export type RequestVerb = 'get' | 'list' | 'watch' | 'create' | 'apply' | 'patch' | 'update' | 'delete' | 'other'

export type RequestFacts = {
  readonly verb: RequestVerb
  readonly method: string
  readonly path: string
  /** Plural, such as `configmaps`; empty for paths that name no resource. */
  readonly resource: string
  readonly subresource: string | undefined
  readonly namespace: string | undefined
  readonly name: string | undefined
  readonly fieldManager: string | undefined
  readonly resourceVersion: string | undefined
  /** What a list or watch selects, such as `metadata.name=builder`: two watches of one kind differ in it. */
  readonly selector: string
  /** A later page of a list. */
  readonly continues: boolean
  readonly userAgent: string
}

type Target = Pick<RequestFacts, 'resource' | 'subresource' | 'namespace' | 'name'>

const nowhere: Target = { resource: '', subresource: undefined, namespace: undefined, name: undefined }

/** `/api/v1/…` and `/apis/<group>/<version>/…`, with or without `namespaces/<name>/`. */
function targetOf(path: string): Target {
  const parts = path.split('/').filter(Boolean).map(decodeURIComponent)
  const rest = parts[0] === 'api' ? parts.slice(2) : parts[0] === 'apis' ? parts.slice(3) : []
  const [first, second, third] = rest
  if (first === undefined) return nowhere
  if (first === 'namespaces' && third !== undefined && !['status', 'finalize'].includes(third))
    return { resource: third, namespace: second, name: rest[3], subresource: rest[4] }
  return { resource: first, namespace: undefined, name: second, subresource: third }
}

function verbOf(method: string, target: Target, watch: boolean, contentType: string): RequestVerb {
  if (target.resource === '') return 'other'
  switch (method) {
    case 'GET':
      if (target.name !== undefined) return 'get'
      return watch ? 'watch' : 'list'
    case 'POST':
      return 'create'
    case 'PUT':
      return 'update'
    case 'PATCH':
      return contentType.startsWith('application/apply-patch') ? 'apply' : 'patch'
    case 'DELETE':
      return 'delete'
    default:
      return 'other'
  }
}

export type RequestLine = {
  readonly method: string
  readonly url: string
  readonly contentType?: string
  readonly userAgent?: string
}

export function requestFacts({ method, url, contentType = '', userAgent = '' }: RequestLine): RequestFacts {
  const { pathname, searchParams: query } = new URL(url, 'http://proxy')
  const target = targetOf(pathname)
  return {
    ...target,
    verb: verbOf(method, target, ['true', '1'].includes(query.get('watch') ?? ''), contentType),
    method,
    path: pathname,
    selector: ['labelSelector', 'fieldSelector'].map(name => query.get(name) ?? '').join(' '),
    fieldManager: query.get('fieldManager') ?? undefined,
    resourceVersion: query.get('resourceVersion') ?? undefined,
    continues: query.has('continue'),
    userAgent,
  }
}

const writeVerbs: ReadonlySet<RequestVerb> = new Set(['create', 'apply', 'patch', 'update', 'delete'])

/** Whether the request changes something on the server. Reviews are queries in the form of a create. */
export function isWrite(facts: Pick<RequestFacts, 'verb' | 'resource'>): boolean {
  return writeVerbs.has(facts.verb) && !facts.resource.endsWith('reviews')
}
