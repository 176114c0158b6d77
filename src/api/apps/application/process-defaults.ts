// What a process has that nobody described, such as one that was found in the image. Without imports: command-line tools load
// it, too.

/** The defaults of the schema of a process. */
export const processDefaults = { replicas: 1, cpu: '50m', memory: '256Mi' } as const

/** Pods of one process at most. */
export const maxReplicas = 50

/**
 * The seconds between the deletion of a pod and SIGTERM, in which the ingress controller drops the endpoint while the process
 * still answers: without them a rollout loses requests. Traefik takes a change of endpoints into account up to 2 s late by its
 * defaults, and later on a node that is busy.
 * https://doc.traefik.io/traefik/reference/install-configuration/providers/others/http/ (`providersThrottleDuration`)
 */
export const drainSeconds = 5
