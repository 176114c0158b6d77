// What the platform's operator decides about the namespaces of all tenants. Set by configuration; tenants cannot change it.
import type { AddressRange } from '../../lib/address-range.ts'
import type { AllowedRange, IngressPeers } from './network/network-settings.ts'
import type { PlatformAccounts } from './rights/platform-bindings.ts'
import type { DefaultClasses } from './runtime/choose-classes.ts'
import type { ScriptAddresses } from './workload-scripts/workload-scripts.ts'

export type NetworkSettings = {
  /** Who may reach applications besides pods of their own namespace. */
  readonly ingressFrom: IngressPeers
  /** Ranges of the cluster, and private ones: no part of the internet. */
  readonly clusterRanges: readonly AddressRange[]
  readonly privateRanges: readonly AddressRange[]
  /** DNS caches outside kube-system. */
  readonly dnsRanges: readonly AddressRange[]
  /** What pods may reach although it is not the internet. */
  readonly applicationEgress: readonly AllowedRange[]
  readonly buildEgress: readonly AllowedRange[]
  /** The TCP ports that builds may reach on the internet. */
  readonly buildPorts: readonly number[]
  /** The ports of the token desk, the git proxy and the source store inside the platform namespace. */
  readonly tokenDeskPort: number
  readonly gitProxyPort: number
  readonly sourceStorePort: number
  /** The port of the registry's token server inside the platform namespace; absent without one. */
  readonly registryTokenPort?: number
}

export type TenantSettings = {
  readonly network: NetworkSettings
  readonly accounts: PlatformAccounts
  /** By which pods reach the platform. */
  readonly addresses: ScriptAddresses
  readonly runtimeClasses: DefaultClasses
  /** Dockerfiles are built: pods of build namespaces are judged by the policy build-pods instead of Pod Security. */
  readonly buildsDockerfiles: boolean
  /** PEM of the certificate authorities by which workloads trust the token desk now: several while one is replaced. */
  readonly certificateAuthorities: () => string
}
