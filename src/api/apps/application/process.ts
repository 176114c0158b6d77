// One process of an Application, and what a scheduled process shares with it: the program, and what its pods may use.
import { defineReasons } from '../../reasons/reason.ts'
import { dnsLabel } from '../../schema/fields.ts'
import { bytes, celQuantity, cores } from '../../schema/quantity.ts'
import { integer, list, object, optional, type Rule, text } from '../../schema/schema.ts'
import { healthHeadersField, healthPathOptions, probesField } from './probe.ts'
import { drainSeconds, maxReplicas, processDefaults } from './process-defaults.ts'

/** The longest grace period of a pod, in seconds: of Applications, and by admission of every pod of a tenant. */
export const maxGraceSeconds = 3600
/** Of which the process has half after SIGTERM. */
const shortestGrace = 2 * drainSeconds

export const nameField = (description: string) => text({ description, max: 40, pattern: dnsLabel })

/** The program of a container. */
export const programFields = {
  command: optional(
    list(text({ description: 'The program, or one of its arguments.', max: 1024 }), {
      description:
        'The command, such as `["node", "worker.js"]`. When omitted: the process of this name in the image, when buildpacks built it (from a `Procfile`, for example), and otherwise the entry point of the image.',
      max: 64,
    }),
  ),
  args: optional(
    list(text({ description: 'One argument.', min: 0, max: 4096 }), { description: 'Arguments of the command.', max: 64 }),
  ),
}

/** What a container gets and may use. */
export const resourceFields = {
  cpu: cores({
    description:
      'The CPU time that is reserved for each pod, in cores: `100m` is a tenth of a core. A pod may use more when the node is idle, up to `cpuLimit`.',
    least: '0',
    default: processDefaults.cpu,
  }),
  cpuLimit: optional(
    cores({
      description:
        'The CPU time that each pod may use at most, in cores: `1` or `500m`. A pod that needs more is slowed down. When omitted, what the node has left.',
    }),
  ),
  memory: bytes({
    description: 'The memory that each pod may use, such as `128Mi` or `1Gi`. A process that uses more is ended and restarted.',
    default: processDefaults.memory,
  }),
  ephemeralStorage: optional(
    bytes({
      description:
        'How much each pod may write to `/tmp` and to its log, such as `2Gi`; the content is lost with the pod. A pod that writes more is evicted. When omitted: 256 MiB in `/tmp`.',
    }),
  ),
}

/** The limit may not be below what is reserved: the API server would refuse the Deployment. */
export const resourceRules: readonly Rule[] = [
  {
    rule: `!has(self.cpuLimit) || ${celQuantity('self.cpuLimit')}.compareTo(${celQuantity('self.cpu')}) >= 0`,
    message: 'cpuLimit must not be lower than cpu (50m when cpu is omitted): raise cpuLimit or lower cpu',
    fieldPath: '.cpuLimit',
  },
]

const autoscalingField = object(
  {
    minReplicas: integer({ description: 'The least number of pods.', min: 1, max: maxReplicas, default: 1 }),
    maxReplicas: integer({ description: 'The greatest number of pods.', min: 1, max: maxReplicas }),
    cpuPercent: integer({
      description:
        'The share of `cpu` that the pods use on average, in percent: when they use more, pods are added, and when they use less, removed.',
      min: 1,
      max: 1000,
      default: 80,
    }),
  },
  {
    description:
      'The number of pods follows the CPU time that they use; `replicas` is then ignored. The cluster needs a metrics server for it.',
    rules: [
      {
        rule: 'self.minReplicas <= self.maxReplicas',
        message: 'minReplicas must not be greater than maxReplicas',
        fieldPath: '.minReplicas',
      },
    ],
  },
)

const rolloutField = object(
  {
    maxSurge: integer({
      description: 'How many pods more than wanted may run while a new version starts.',
      min: 0,
      max: maxReplicas,
      default: 1,
    }),
    maxUnavailable: integer({
      description: 'How many pods less than wanted may be ready while a new version starts.',
      min: 0,
      max: maxReplicas,
      default: 0,
    }),
  },
  {
    description: 'How many pods are replaced at a time. By default one new pod is ready before an old one is stopped.',
    rules: [
      {
        rule: 'self.maxSurge + self.maxUnavailable > 0',
        message: 'maxSurge and maxUnavailable must not both be 0: no pod could be replaced',
        fieldPath: '.maxSurge',
      },
    ],
  },
)

const hasReadiness = 'has(self.probes) && has(self.probes.readiness)'
const probePaths = ['startup', 'liveness', 'readiness']
  .map(probe => `(has(self.probes.${probe}) && has(self.probes.${probe}.path))`)
  .join(' || ')

/** One entry of `spec.processes`. */
export const processField = object(
  {
    name: nameField('The name of the process. The process named `web` receives the requests to the URL of the Application.'),
    ...programFields,
    port: optional(
      integer({
        description:
          'The TCP port on which the process listens. The process also gets it as the environment variable `PORT`. Required for the process `web`. Other pods of the namespace reach `web` at `http://<application>` and any other process with a port at `http://<application>-<process>`.',
        min: 1,
        max: 65_535,
      }),
    ),
    replicas: integer({
      description: 'The number of pods that run the process.',
      min: 0,
      max: maxReplicas,
      default: processDefaults.replicas,
    }),
    autoscaling: optional(autoscalingField),
    healthPath: optional(
      text({
        ...healthPathOptions,
        description:
          'The path of an HTTP endpoint that answers with a status from 200 to 399 when the process is ready for requests, such as `/healthz`. When omitted, the process is ready as soon as its port accepts connections.',
      }),
    ),
    healthHeaders: optional(healthHeadersField),
    probes: optional(probesField),
    ...resourceFields,
    gracePeriodSeconds: optional(
      integer({
        description: `The time from the deletion of a pod until its process is killed, in seconds. The first ${drainSeconds} seconds pass before SIGTERM, so that the ingress sends no request to a process that stops. When omitted: 30.`,
        min: shortestGrace,
        max: maxGraceSeconds,
      }),
    ),
    rollout: optional(rolloutField),
  },
  {
    description: 'One process of the application. Each process runs in pods of its own.',
    rules: [
      ...resourceRules,
      {
        rule: `!(has(self.healthPath) && ${hasReadiness})`,
        message: 'set healthPath or probes.readiness, not both',
        fieldPath: '.healthPath',
      },
      {
        rule: `has(self.port) || !(has(self.healthPath) || (has(self.probes) && (${probePaths})))`,
        message: 'port must be set: healthPath and probes with a path ask for it',
        fieldPath: '.healthPath',
      },
      {
        rule: `!has(self.healthHeaders) || has(self.healthPath) || (has(self.probes) && (${probePaths}))`,
        message: 'healthHeaders are sent by checks of HTTP only: set healthPath, or a path in probes',
        fieldPath: '.healthHeaders',
      },
    ],
  },
)

/** Reasons of the condition Autoscaling of an Application. */
export const autoscalingReasons = defineReasons({
  ready: {
    LoadMeasured: 'The cluster measures the pods of each process with `autoscaling`.',
  },
  progress: {
    LoadNotMeasuredYet:
      'Pods of a process with `autoscaling` have not been measured yet, as in the first minute after they start.',
  },
  person: {
    MetricsMissing:
      'The cluster has no metrics server, or it does not answer, so that `autoscaling` changes nothing. A platform admin installs or repairs it; until then set `replicas` in place of `autoscaling`.',
  },
})
