// Application: something that runs: an image and its processes. A chart turns it into Deployment, Service and Ingress.

import { defineKind, type ObjectOf } from '../kind.ts'
import { dnsLabel } from '../schema/fields.ts'
import { integer, list, map, object, optional, text } from '../schema/schema.ts'

const hostName = '^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$'

const environmentVariable = object(
  {
    name: text({ description: 'The variable.', max: 256, pattern: '^[A-Za-z_][A-Za-z0-9_]*$' }),
    value: text({ description: 'Its value. Not for secrets: whoever reads the Application reads it.', min: 0, max: 4096 }),
  },
  { description: 'One environment variable.' },
)

const processField = object(
  {
    name: text({ description: 'The process; `web` gets the URL.', max: 40, pattern: dnsLabel }),
    command: optional(
      list(text({ description: 'A word.', max: 1024 }), { description: 'The command; the image’s own when absent.', max: 64 }),
    ),
    args: optional(list(text({ description: 'A word.', min: 0, max: 4096 }), { description: 'Arguments.', max: 64 })),
    port: optional(integer({ description: 'The port it listens on; given to it as PORT.', min: 1, max: 65_535 })),
    replicas: integer({ description: 'How many run.', min: 0, max: 50, default: 1 }),
    healthPath: optional(
      text({ description: 'A path that answers 200 when the process is ready.', max: 512, pattern: '^/[^ ]*$' }),
    ),
    cpu: text({ description: 'CPU request, such as 100m.', max: 16, pattern: '^[0-9]+m?$', default: '50m' }),
    memory: text({ description: 'Memory limit, such as 128Mi.', max: 16, pattern: '^[0-9]+(Mi|Gi)$', default: '256Mi' }),
  },
  { description: 'One kind of process of the application.' },
)

export const application = defineKind({
  group: 'apps',
  kind: 'Application',
  plural: 'applications',
  shortNames: ['sapp'],
  scope: 'Namespaced',
  tenantAccess: 'write',
  description: 'Something that runs, with a URL.',
  spec: object(
    {
      image: optional(
        text({
          description: 'The image, by digest for builds. Absent until the first build: a RemoteSync fills it in.',
          max: 512,
          pattern: '^[^ @]+(@sha256:[0-9a-f]{64})?$',
        }),
      ),
      commit: optional(
        text({
          description: 'The commit the image was built from; written with the image.',
          max: 64,
          pattern: '^[0-9a-f]{40}([0-9a-f]{24})?$',
        }),
      ),
      chart: text({ description: 'The ApplicationChart.', max: 63, pattern: dnsLabel, default: 'web' }),
      processes: list(processField, { description: 'What runs.', min: 1, max: 10, unique: ['name'] }),
      env: optional(list(environmentVariable, { description: 'Environment of every process.', max: 200, unique: ['name'] })),
      domains: optional(
        list(text({ description: 'A host name.', max: 253, pattern: hostName }), {
          description: 'Host names; <name>.<namespace>.<platform domain> when absent.',
          max: 20,
          unique: 'set',
        }),
      ),
      attributes: optional(
        map(text({ description: 'A value.', min: 0, max: 1024 }), {
          description: 'Free attributes for charts of the platform.',
          max: 50,
        }),
      ),
    },
    {
      description: 'What runs and how.',
      rules: [
        {
          rule: "self.processes.exists(p, p.name == 'web') ? self.processes.exists(p, p.name == 'web' && has(p.port)) : true",
          message: 'processes[web].port must be set: the URL leads there',
          fieldPath: '.processes',
        },
      ],
    },
  ),
  status: {
    url: optional(text({ description: 'Where it answers.', max: 512 })),
    image: optional(text({ description: 'The image that runs.', max: 512 })),
    commit: optional(text({ description: 'The commit that runs.', max: 64 })),
    appliedAt: optional(text({ description: 'When the objects of this generation were applied.', max: 64, format: 'date-time' })),
    availableAt: optional(text({ description: 'When this generation was rolled out.', max: 64, format: 'date-time' })),
    inventory: optional(
      list(
        object(
          {
            apiVersion: text({ description: 'Group and version.', max: 253 }),
            kind: objectKind('Kind.'),
            name: text({ description: 'Name.', max: 253 }),
          },
          { description: 'An object that the chart made.' },
        ),
        {
          description: 'Every object this Application owns: what is here and no longer rendered is pruned.',
          max: 100,
          unique: ['apiVersion', 'kind', 'name'],
        },
      ),
    ),
  },
  columns: [
    { name: 'URL', type: 'string', jsonPath: '.status.url' },
    { name: 'Commit', type: 'string', jsonPath: '.status.commit' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Reason', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].reason' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
})

function objectKind(description: string) {
  return text({ description, max: 63, pattern: '^[A-Z][A-Za-z0-9]*$' })
}

export type Application = ObjectOf<typeof application>

export const applicationReasons = {
  available: 'Available',
  waitingForImage: 'WaitingForImage',
  invalidName: 'InvalidName',
  domainTaken: 'DomainTaken',
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
