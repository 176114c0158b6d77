// What the platform's operator decides about the namespaces of all tenants. Set by configuration; tenants cannot change it.

/** An address range that pods may open connections to. */
export type EgressRule = {
  /** Part of the policy's name: a DNS label. */
  readonly name: string
  readonly cidr: string
  /** Parts of the range that stay blocked, such as the cloud's metadata address. */
  readonly except?: readonly string[]
  readonly ports: readonly number[]
}

export type TenantSettings = {
  /** What builds may reach besides DNS and the source store: the image registry and package registries. */
  readonly buildEgress: readonly EgressRule[]
  /** The port on which the source store serves git inside the platform namespace. */
  readonly sourceStorePort: number
  /** The port of the registry's token server inside the platform namespace; absent without one. */
  readonly registryTokenPort?: number
  /** PEM of the certificate authority by which workloads trust the token desk. */
  readonly certificateAuthority: string
}
