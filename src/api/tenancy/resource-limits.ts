// `spec.limits.resources` of a Tenant: what everything in its namespace may use together. Data only; the Tenant controller
// makes a ResourceQuota of it.
import { bytes, cores } from '../schema/quantity.ts'
import { integer, object, optional } from '../schema/schema.ts'

/** As the quota is without the field. Modest: a mistake or a flood of one tenant must leave room for the others. */
export const defaultResources = {
  pods: 200,
  cpu: '16',
  memory: '32Gi',
  ephemeralStorage: { requests: '40Gi', limits: '200Gi' },
  storage: '100Gi',
} as const

export const resourceLimitsField = object(
  {
    pods: optional(
      integer({
        description: `How many pods may run or wait to run. ${defaultResources.pods} when omitted.`,
        min: 1,
        max: 10_000,
      }),
    ),
    cpu: optional(
      cores({
        description: `The CPU time that all containers may reserve (the sum of \`cpu\`), in cores: \`4\` or \`1500m\`. ${defaultResources.cpu} when omitted.`,
      }),
    ),
    memory: optional(
      bytes({
        description: `The memory of all containers (the sum of \`memory\`), such as \`64Gi\`. ${defaultResources.memory} when omitted.`,
      }),
    ),
    ephemeralStorage: optional(
      bytes({
        description: `The disk of the nodes that all containers may fill (the sum of \`ephemeralStorage\`), such as \`400Gi\`. ${defaultResources.ephemeralStorage.limits}, of which ${defaultResources.ephemeralStorage.requests} may be reserved, when omitted.`,
      }),
    ),
    storage: optional(
      bytes({
        description: `The size of all volumes, such as \`500Gi\`. ${defaultResources.storage} when omitted.`,
      }),
    ),
  },
  {
    description:
      'What all pods and volumes in the namespace may use together. Each value that is omitted has a default. An Application for which there is no room says `QuotaExceeded`.',
  },
)
