// The three ports of the probe (deploy/standalone/network-probe.yaml): what the policies there say about each.

/** Where the probe listens. */
export const probePorts = {
  /** Both policies allow it: proves that the probe answers. */
  allowed: 9001,
  /** The platform's egress allows it, the probe's ingress does not. */
  ingress: 9002,
  /** The probe's ingress allows it, the platform's egress does not. */
  egress: 9003,
} as const
