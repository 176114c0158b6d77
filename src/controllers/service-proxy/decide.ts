// Which Services of a tenant's namespace kube-proxy is to serve. Pure: the same facts have the same answer.

export type ServiceFacts = {
  readonly name: string
  readonly uid: string
  readonly resourceVersion: string
  /** RFC 3339. */
  readonly createdAt: string
  /** Rendered for an Application. */
  readonly ofApplication: boolean
  readonly ports: number
  /** Of its EndpointSlices, ready or not: those that are not ready may become so at any time. */
  readonly endpoints: number
  /**
   * `complete`: the slices were made from the present spec, or the Service was counted when it was made or changed. `begun`: so
   * are the first slices of a new Service, and more may follow. `none`: nothing is known.
   */
  readonly count: 'none' | 'begun' | 'complete'
  /**
   * Kube-proxy of the nodes programs it when it has no such label: not for headless Services, nor for those that another proxy
   * serves.
   */
  readonly proxied: boolean
  /**
   * What the platform's label says; `new`: not counted since the Service was made, `changed`: not counted since its spec was
   * changed.
   */
  readonly label: 'none' | 'new' | 'changed' | 'beyond'
}

export type Facts = {
  readonly services: readonly ServiceFacts[]
  /** The bound. */
  readonly maxPairs: number
  /** How many pods the tenant may run. */
  readonly maxPods: number
}

/**
 * A Service whose label has to change. `again`: to one that shows when Kubernetes has made all of its slices. `served`: to
 * none.
 */
export type Change = { readonly service: ServiceFacts; readonly to: 'beyond' | 'again' | 'served' }

export type Decision = {
  /** Of all Services that are counted and that kube-proxy would serve. */
  readonly pairs: number
  /** First those that get the label, because they delay others. */
  readonly changes: readonly Change[]
}

/** Nothing for what is not counted: it is not served. */
function pairsOf({ proxied, ports, endpoints, count }: ServiceFacts): number {
  return proxied && count === 'complete' ? ports * endpoints : 0
}

/** Applications before what the tenant made by hand, the older before the younger. */
function inOrder(a: ServiceFacts, b: ServiceFacts): number {
  if (a.ofApplication !== b.ofApplication) return a.ofApplication ? -1 : 1
  const [left, right] = [`${a.createdAt} ${a.uid}`, `${b.createdAt} ${b.uid}`]
  return left < right ? -1 : Number(left > right)
}

/**
 * The Services beyond the bound: in order, each that does not fit into what those before it left. Smaller ones behind it may
 * fit.
 */
function beyondBound({ services, maxPairs }: Facts, pairs: (service: ServiceFacts) => number): ReadonlySet<string> {
  let left = maxPairs
  const beyond = new Set<string>()
  for (const service of services.toSorted(inOrder)) {
    const own = pairs(service)
    if (own > left) beyond.add(service.uid)
    else left -= own
  }
  return beyond
}

/** What has to change. A label is also taken off where it has no effect, as on a Service that became headless. */
export function decide(facts: Facts): Decision {
  const beyond = beyondBound(facts, pairsOf)
  // All pods may be behind those that are not counted. Nobody is served before them who would have to be taken away a moment
  // later, which costs kube-proxy more than what is there; but what is served is not taken away for them.
  const waiting = beyondBound(facts, service =>
    service.proxied && service.count !== 'complete' ? service.ports * facts.maxPods : pairsOf(service),
  )
  const changeOf = (service: ServiceFacts): Change['to'] | undefined => {
    const { uid, label, count } = service
    if (count !== 'complete') return count === 'begun' ? 'again' : undefined
    if (beyond.has(uid)) return label === 'beyond' ? undefined : 'beyond'
    return label === 'none' || waiting.has(uid) ? undefined : 'served'
  }
  const changes = facts.services.flatMap((service): readonly Change[] => {
    const to = changeOf(service)
    return to === undefined ? [] : [{ service, to }]
  })
  return {
    pairs: facts.services.reduce((sum, service) => sum + pairsOf(service), 0),
    changes: [...changes.filter(({ to }) => to === 'beyond'), ...changes.filter(({ to }) => to !== 'beyond')],
  }
}
