// Application: an image and the processes that run it. An ApplicationChart turns it into Deployments, a Service and an Ingress.
import { ageColumn, defineKind, type ObjectOf, readyColumns } from '../kind.ts'
import type { ReasonTexts } from '../resource.ts'
import { commitId, dnsLabel, environmentField, hostName, timestamp } from '../schema/fields.ts'
import { integer, list, map, object, optional, text } from '../schema/schema.ts'

const processField = object(
  {
    name: text({
      description: 'The name of the process. The process named `web` receives the requests to the URL of the Application.',
      max: 40,
      pattern: dnsLabel,
    }),
    command: optional(
      list(text({ description: 'The program, or one of its arguments.', max: 1024 }), {
        description: 'The command, such as `["node", "worker.js"]`. The entry point of the image when omitted.',
        max: 64,
      }),
    ),
    args: optional(
      list(text({ description: 'One argument.', min: 0, max: 4096 }), { description: 'Arguments of the command.', max: 64 }),
    ),
    port: optional(
      integer({
        description:
          'The TCP port on which the process listens. The process also gets it as the environment variable `PORT`. Required for the process `web`.',
        min: 1,
        max: 65_535,
      }),
    ),
    replicas: integer({ description: 'The number of pods that run the process.', min: 0, max: 50, default: 1 }),
    healthPath: optional(
      text({
        description:
          'The path of an HTTP endpoint that answers with a status from 200 to 399 when the process is ready for requests, such as `/healthz`. When omitted, the process is ready as soon as its port accepts connections.',
        max: 512,
        pattern: '^/[^ ]*$',
      }),
    ),
    cpu: text({
      description:
        'The CPU time that is reserved for each pod, in cores: `100m` is a tenth of a core. A pod may use more when the node is idle.',
      max: 16,
      pattern: '^[0-9]+m?$',
      default: '50m',
    }),
    memory: text({
      description: 'The memory that each pod may use, such as `128Mi` or `1Gi`. A process that uses more is ended and restarted.',
      max: 16,
      pattern: '^[0-9]+(Mi|Gi)$',
      default: '256Mi',
    }),
  },
  { description: 'One process of the application. Each process runs in pods of its own.' },
)

export const application = defineKind({
  group: 'apps',
  kind: 'Application',
  plural: 'applications',
  shortNames: ['sapp'],
  scope: 'Namespaced',
  tenantAccess: 'write',
  description:
    'An image and the processes that run it, with a URL. The platform creates Deployments, a Service and an Ingress from it.',
  writtenBy: 'Developers and admins of the tenant. A RemoteSync that names the Application sets `spec.image` and `spec.commit`.',
  spec: object(
    {
      image: optional(
        text({
          description:
            'The image that runs, such as `registry.example.com/apps/shop@sha256:…`. Omit this field if a RemoteSync builds the image: it sets the field after each build. Until then nothing runs.',
          max: 512,
          pattern: '^[^ @]+(@sha256:[0-9a-f]{64})?$',
        }),
      ),
      commit: optional(
        commitId(
          'The commit from which the image was built. Only the platform sets it, together with `image`; set it to `null` when you set another `image`.',
        ),
      ),
      chart: text({
        description: 'The name of the ApplicationChart that turns this Application into Kubernetes objects.',
        max: 63,
        pattern: dnsLabel,
        default: 'web',
      }),
      processes: list(processField, { description: 'The processes of the application.', min: 1, max: 10, unique: ['name'] }),
      env: optional(
        environmentField(
          'Environment variables of every process. `PORT` and `SEKISHO_COMMIT` are set by the platform and cannot be overridden.',
          200,
        ),
      ),
      domains: optional(
        list(
          text({
            description: 'A host name in lower case, such as `shop.example.com`, without `*`.',
            max: 253,
            pattern: hostName,
          }),
          {
            description:
              'The host names under which the process `web` answers. When omitted: `<name>.<namespace>.<application domain of the platform>`. Any other name must be proved by a DNS record, which the condition Ready names, and then belongs to the tenant as a DomainClaim; in a tenant one Application has it at a time.',
            max: 20,
            unique: 'set',
          },
        ),
      ),
      attributes: optional(
        map(text({ description: 'The value of the attribute.', min: 0, max: 1024 }), {
          description:
            'Further settings for the chart. The chart `web` reads `writable-root-filesystem`: `"true"` lets processes write to the file system of the image.',
          max: 50,
        }),
      ),
    },
    {
      description: 'What runs, and how.',
      rules: [
        {
          rule: "self.processes.exists(p, p.name == 'web') ? self.processes.exists(p, p.name == 'web' && has(p.port)) : true",
          message: 'processes[web].port must be set: the URL leads to this port',
          fieldPath: '.processes',
        },
      ],
    },
  ),
  status: {
    url: optional(text({ description: 'The URL of the application.', max: 512 })),
    image: optional(
      text({ description: 'The image that runs. It changes when the rollout of a new image is complete.', max: 512 }),
    ),
    commit: optional(text({ description: 'The commit that runs. It changes together with `image`.', max: 64 })),
    appliedAt: optional(timestamp('When all Kubernetes objects of this generation were applied.')),
    availableAt: optional(timestamp('When the rollout of this generation was complete.')),
    inventory: optional(
      list(
        object(
          {
            apiVersion: text({ description: 'The API group and version of the object, such as `apps/v1`.', max: 253 }),
            kind: text({ description: 'The kind of the object, such as `Deployment`.', max: 63, pattern: '^[A-Z][A-Za-z0-9]*$' }),
            name: text({ description: 'The name of the object.', max: 253 }),
          },
          { description: 'One Kubernetes object that was created from the chart.' },
        ),
        {
          description:
            'All Kubernetes objects that belong to this Application. An object in this list that the chart no longer renders is deleted.',
          max: 100,
          unique: ['apiVersion', 'kind', 'name'],
        },
      ),
    ),
  },
  conditions: {
    Rendered: 'The chart was rendered, and the cluster has all of its objects.',
    Available: 'Every process answers, in this or in an earlier version.',
    Ready: 'Every process runs this generation with all of its replicas, and no older pod is left.',
  },
  reasons: {
    Applied: 'The cluster has all objects that the chart rendered.',
    Available: 'All replicas run this generation.',
    WaitingForImage: '`spec.image` is not set. Create a RemoteSync that builds it, or set it.',
    InvalidName: '`metadata.name` is not a DNS label of at most 63 characters. Create the Application under another name.',
    ForeignImage:
      "`spec.image` is in the part of the platform's registry that belongs to another tenant. Use an image of your own.",
    DomainTaken:
      'Another Application or another tenant already uses one of the host names. Choose another host name, or remove it there first.',
    DomainReserved:
      'One of the host names belongs to the platform or to an Ingress of the cluster that no Application made. Choose another host name, or ask a platform admin.',
    DomainNotProven:
      'One of the host names is not yet proved to belong to the tenant. Add the DNS record in the message, or ask a platform admin for a DomainClaim.',
    ChartNotFound: 'The ApplicationChart that `spec.chart` names does not exist, or its source cannot be found.',
    ChartFailed: 'The chart threw an error or rendered objects that are not allowed. The message names the error.',
    ChartTimedOut: 'The chart did not finish within `spec.timeoutSeconds` of the ApplicationChart.',
    RefusedByCluster:
      'The API server refused an object of the chart, for example because a quota is exhausted. The message names the object and the cause.',
    NameConflict:
      'An object with the name of a rendered object exists and does not belong to this Application. Delete or rename one of the two.',
    RollingOut: 'New pods are starting. Until they are ready, the earlier version keeps serving.',
    ImagePullFailed: 'The image cannot be pulled. Check `spec.image`, and that the registry has it.',
    Crashing: 'A process exits soon after its start, or runs out of memory. The message names the command that shows its log.',
    RolloutStalled:
      'Pods are not created, or do not become ready in time. Check `port` and `healthPath`, and the quota of the namespace.',
  } satisfies ReasonTexts<typeof applicationReasons>,
  columns: [
    { name: 'URL', type: 'string', jsonPath: '.status.url' },
    { name: 'Commit', type: 'string', jsonPath: '.status.commit' },
    ...readyColumns,
    ageColumn,
  ],
})

export type Application = ObjectOf<typeof application>

/** Reasons of the conditions; described in the definition above. */
export const applicationReasons = {
  applied: 'Applied',
  available: 'Available',
  waitingForImage: 'WaitingForImage',
  invalidName: 'InvalidName',
  foreignImage: 'ForeignImage',
  domainTaken: 'DomainTaken',
  domainReserved: 'DomainReserved',
  domainNotProven: 'DomainNotProven',
  chartNotFound: 'ChartNotFound',
  chartFailed: 'ChartFailed',
  chartTimedOut: 'ChartTimedOut',
  refusedByCluster: 'RefusedByCluster',
  nameConflict: 'NameConflict',
  rollingOut: 'RollingOut',
  imagePullFailed: 'ImagePullFailed',
  crashing: 'Crashing',
  rolloutStalled: 'RolloutStalled',
} as const
