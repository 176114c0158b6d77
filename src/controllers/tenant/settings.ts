// What the platform's operator decides about every tenant's namespaces. Comes in by configuration; a tenant has no say in it.

/** An address range that pods may open connections to. */
export type EgressRule = {
  /** Shown in the policy's name: one DNS label. */
  readonly name: string
  readonly cidr: string
  /** Parts of the range that stay closed, such as the cloud's metadata address. */
  readonly except?: readonly string[]
  readonly ports: readonly number[]
}

export type TenantSettings = {
  /** What builds may reach beside DNS and the source store: the image registry, package registries. */
  readonly buildEgress: readonly EgressRule[]
  /** The port on which the source store serves git inside the platform namespace. */
  readonly sourceStorePort: number
  /** PEM of the authority that signed the token desk's certificate: workloads trust the desk by it. */
  readonly certificateAuthority: string
}
