// Points the Service `sekisho-source` at the leader, the only replica that has sources. The Service has no selector, so its
// endpoints are what is written here. The platform may write this one EndpointSlice, by its name.
// Source: https://kubernetes.io/docs/concepts/services-networking/service/#services-without-selectors
import { type EndpointSlice, endpointSlices } from '../../api/builtin/index.ts'
import { platformNamespace } from '../../api/names.ts'
import type { Applied, KubeClient } from '../../kube/client/client.ts'
import { isKubeError } from '../../kube/client/errors.ts'
import { type Clock, elapsed } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { type Periodic, periodic } from '../../lib/periodic.ts'

export type SourceEndpointDeps = {
  /** Refuses writes while this process does not lead. */
  readonly client: Pick<KubeClient, 'get' | 'apply'>
  readonly isLeader: () => boolean
  /** The IPv4 address of this pod, and the port of its source server. */
  readonly address: string
  readonly port: number
  readonly clock: Clock
  readonly log: Log
}

const service = 'sekisho-source'
const fieldManager = 'sekisho.dev/source-endpoint'
/** Builds that start in between meet the former leader. */
const everyMilliseconds = 1000
/** How soon an endpoint that somebody else changed is written again. */
const checkMilliseconds = 15_000

/** The slice of the Service that names this replica alone. */
export function desiredSourceSlice(address: string, port: number): Applied & Pick<EndpointSlice, 'endpoints' | 'ports'> {
  return {
    apiVersion: endpointSlices.apiVersion,
    kind: endpointSlices.kind,
    metadata: {
      name: service,
      namespace: platformNamespace,
      labels: { 'kubernetes.io/service-name': service, 'endpointslice.kubernetes.io/managed-by': 'sekisho' },
    },
    addressType: 'IPv4',
    endpoints: [{ addresses: [address], conditions: { ready: true } }],
    ports: [{ name: 'git', port, protocol: 'TCP' }],
  }
}

/** Whether the slice leads builds to this replica and to no other. */
function names(slice: EndpointSlice | undefined, { address, port }: SourceEndpointDeps): boolean {
  const [endpoint, ...others] = slice?.endpoints ?? []
  return (
    others.length === 0 &&
    endpoint?.addresses.join() === address &&
    endpoint.conditions?.ready !== false &&
    slice?.ports?.length === 1 &&
    slice.ports[0]?.port === port
  )
}

/** The loop of the leader: writes the endpoint within a second of its election, and again when somebody else changed it. */
export function createSourceEndpoint(deps: SourceEndpointDeps): Periodic {
  const { client, isLeader, address, port, clock, log } = deps
  const desired = desiredSourceSlice(address, port)
  const key = { namespace: platformNamespace, name: desired.metadata.name }
  let checkedAt: number | undefined
  return periodic({
    name: 'endpoint of the source store',
    everyMilliseconds,
    async work() {
      if (!isLeader()) {
        // Another leader may have written its own address since.
        checkedAt = undefined
        return
      }
      if (checkedAt !== undefined && elapsed(clock) - checkedAt < checkMilliseconds) return
      if (!names(await client.get(endpointSlices, key), deps)) {
        await client.apply(endpointSlices, desired, { fieldManager, force: true }).catch(explain)
        log.info({ address, port }, 'builds fetch their source from this replica')
      }
      checkedAt = elapsed(clock)
    },
    clock,
    log,
  })
}

/** @throws always */
function explain(error: unknown): never {
  if (!isKubeError(error, 403)) throw error
  throw new AppError('forbidden', `the EndpointSlice of ${service} cannot be written: apply the manifests of deploy again`, {
    cause: error,
  })
}
