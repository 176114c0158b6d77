// A tenant's new Service is counted and served, is beyond the bound on ports × endpoints, and comes back when the endpoints of
// another one are gone. The endpoints are written by hand: the control plane of the sweep runs no pods.
import { endpointSlices, services } from '../../../src/api/builtin/index.ts'
import { labels } from '../../../src/api/names.ts'
import { serviceProxyLabel, tooManyEndpoints, uncounted } from '../../../src/api/tenancy/service-proxy.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import type { Environment } from '../environment/environment.ts'
import type { Scenario } from '../scenario.ts'
import { settleTenant } from './tenant.ts'
import { patience } from './waits.ts'

const ports = Array.from({ length: 4 }, (_, at) => ({ name: `p${at}`, port: 80 + at, protocol: 'TCP' }))

/** With four ports, all that a tenant may have. */
const all = Array.from({ length: 250 }, (_, at) => ({ addresses: [`192.0.2.${1 + at}`] }))

const keyIn = ({ namespace }: Environment, name: string) => ({ namespace, name })

function applySlice(environment: Environment, service: string, endpoints: readonly object[]): Promise<void> {
  const metadata = { ...keyIn(environment, service), labels: { 'kubernetes.io/service-name': service } }
  return environment.apply(endpointSlices, service, { metadata, addressType: 'IPv4', endpoints, ports })
}

function proxyIs({ fixture, namespace }: Environment, name: string, value: string | undefined): Promise<true> {
  return waitUntil(
    `the proxy of Service ${name} is ${value ?? 'kube-proxy'}`,
    async () => {
      const service = await fixture.kube.get(services, { namespace, name })
      return (service !== undefined && service.metadata.labels?.[serviceProxyLabel] === value) || undefined
    },
    patience,
  )
}

export const serviceProxyScenario: Scenario = {
  name: 'service-proxy: beyond the bound, and back',
  controllers: ['service-proxy'],
  environment: { component: 'controllers', namespace: 'tenant', github: 'account' },
  prepare: settleTenant,
  async act(environment) {
    // Both are as old as the same second, and those of Applications come first.
    await environment.apply(services, 'first', {
      metadata: { ...keyIn(environment, 'first'), labels: { [labels.application]: 'shop' } },
      spec: { ports },
    })
    // As admission would label it: the policies of the sweep look at what the processes of the platform write.
    await environment.apply(services, 'second', {
      metadata: { ...keyIn(environment, 'second'), labels: { [serviceProxyLabel]: uncounted } },
      spec: { ports, selector: { app: 'none' } },
    })
    await proxyIs(environment, 'second', undefined)
    await applySlice(environment, 'first', all)
    await applySlice(environment, 'second', all.slice(0, 1))
    await proxyIs(environment, 'second', tooManyEndpoints)
    await applySlice(environment, 'first', [])
    await proxyIs(environment, 'second', undefined)
    await applySlice(environment, 'first', all)
    await proxyIs(environment, 'second', tooManyEndpoints)
  },
  shortPoints: /services/,
  compares: [services],
}
