// Application: an image and the processes that run it. An ApplicationChart turns it into Deployments, a Service and an Ingress.
import { digestPattern } from '../../lib/text/image-digest.ts'
import { ageColumn, defineKind, type ObjectOf, readyColumns } from '../kind.ts'
import { defineReasons, rightMissing } from '../reasons/reason.ts'
import { commitId, dnsLabel, timestamp } from '../schema/fields.ts'
import { flag, integer, list, map, object, optional, text } from '../schema/schema.ts'
import { serviceReasons, servicesField } from '../services/application-services.ts'
import { cronField } from './application/cron.ts'
import { domainsField, redirectReasons, redirectRules, redirectsField, tlsField } from './application/domains.ts'
import { applicationEnvironmentField, environmentSourcesField } from './application/environment.ts'
import { followTagField, followTagRule, imagePullSecretsField, imageReasons, imageStatusFields } from './application/image.ts'
import { autoscalingReasons, nameField, processField } from './application/process.ts'
import { releaseFields, releaseReasons, releaseStatusFields } from './application/releases.ts'
import { volumeField } from './application/volume.ts'

const reasons = defineReasons(
  {
    ready: {
      Applied: 'The cluster has all objects that the chart rendered.',
      Available: 'All replicas run this generation.',
    },
    progress: {
      WaitingForImage:
        '`spec.image` is not set. The message names the RemoteSync that builds it, and how far that is. When it names none: create a RemoteSync that builds it, or set it.',
      RollingOut: 'New pods are starting. Until they are ready, the earlier version keeps serving.',
      NotAnsweringYet:
        'A process has run for a while and does not answer so far: it may be slow to start. The message says what was tried, the cure, and when it counts as `NotAnswering`.',
    },
    person: {
      ImageNotBuilt:
        '`spec.image` is not set, and the RemoteSync that builds it cannot go on. The message has its reason and what to do, such as to correct the cause of a failed build and to push.',
      DomainTaken:
        'Another Application or another tenant already uses one of the host names. Choose another host name, or remove it there first.',
      DomainReserved:
        'One of the host names belongs to the platform or to an Ingress of the cluster that no Application made. Choose another host name, or ask a platform admin.',
      DomainNotProven:
        'One of the host names is not yet proved to belong to the tenant. Add the DNS record in the message, or ask a platform admin for a DomainClaim.',
      SecretNotFound:
        'An AppSecret that `env` or `envFrom` names, or a key of it, does not exist. The message names the field and the cure. The earlier version keeps serving.',
      ChartNotFound: 'The ApplicationChart that `spec.chart` names does not exist, or its source cannot be found.',
      NameConflict:
        'An object with the name of a rendered object exists and does not belong to this Application. Delete or rename one of the two.',
      QuotaExceeded:
        'The quota of the namespace is used up. The message names what is limited. Request less, delete what is not used, or ask a platform admin.',
      ImageRunsAsRoot:
        'A pod that is older than the user ids of tenants cannot start, because its image runs as root, or names its user by a name, which Kubernetes cannot check. Restart the Application: new pods run as a user of the tenant. Or set `USER` in the Dockerfile to a number.',
      EnvironmentIncomplete:
        'A ConfigMap or AppSecret that `env` or `envFrom` names does not exist, or lacks the key. The message names it.',
      VolumePending: 'A pod waits for a volume. The message names the command that shows why.',
    },
    failed: {
      InvalidName: '`metadata.name` is not a DNS label of at most 63 characters. Create the Application under another name.',
      ForeignImage:
        "`spec.image` is in the part of the platform's registry that belongs to another tenant. Use an image of your own.",
      ChartFailed: 'The chart threw an error or rendered objects that are not allowed. The message names the error.',
      ChartTimedOut: 'The chart did not finish within `spec.timeoutSeconds` of the ApplicationChart.',
      RefusedByCluster:
        'The API server refused an object of the chart, for example because a quota is exhausted. The message names the object and the cause.',
      InvalidProcesses:
        'The image has too many processes, or a volume names a process that does not exist. The message says what to change.',
      IssuerNotAllowed:
        '`spec.tls.certManager.issuer` names a ClusterIssuer that the platform does not allow. The message names those that it does.',
      ImagePullFailed:
        'The image cannot be pulled. Check `spec.image`, that the registry has it, and for a private image `spec.imagePullSecrets`.',
      Crashing:
        'A process exits soon after its start, or runs out of memory. The message has the cure for what it wrote last, or names the command that shows its log.',
      CommandNotFound: 'The image does not have the program of a process, or no shell. The message names it.',
      NotAnswering:
        'A process runs, but nothing listens on its port, or its check fails: longer than a start may take, or after it has answered. The message says what was tried.',
      RolloutStalled:
        'Pods are not created, or do not become ready in time. Check `port` and `healthPath`, and the quota of the namespace.',
    },
    intended: {
      Suspended:
        'Nothing runs, because `spec.suspend` is `true`, or because a Halt with `workloads: ScaleToZero` stands. Set it to `false`, or have the Halt lifted.',
    },
  },
  {},
  releaseReasons,
  autoscalingReasons,
  redirectReasons,
  imageReasons,
  serviceReasons,
  rightMissing,
)

/** Reasons of the conditions. */
export const applicationReasons = reasons.names

export const application = defineKind({
  group: 'apps',
  kind: 'Application',
  plural: 'applications',
  shortNames: ['sapp'],
  scope: 'Namespaced',
  tenantAccess: 'write',
  scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
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
          pattern: `^[^ @]+(@${digestPattern})?$`,
        }),
      ),
      followTag: optional(followTagField),
      imagePullSecrets: optional(imagePullSecretsField),
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
      processes: optional(
        list(processField, {
          description:
            'The processes of the application. When omitted: those that buildpacks found in the source (in a `Procfile`, for example), one pod each, and otherwise the entry point of the image as `web`; `status.processes` shows them. An empty list: only what is in `cron` runs.',
          max: 10,
          unique: ['name'],
        }),
      ),
      cron: optional(list(cronField, { description: 'Processes that run by a schedule.', max: 20, unique: ['name'] })),
      suspend: optional(
        flag({
          description:
            'Set it to `true` to stop all processes and schedules. Volumes, host names and settings stay, and the URL answers that no server is available.',
        }),
      ),
      volumes: optional(
        list(volumeField, {
          description: 'Volumes, whose content outlives pods.',
          max: 10,
          unique: ['name'],
          rules: [
            {
              rule: 'self.all(v, self.exists_one(w, w.path == v.path))',
              message: 'two volumes must not have the same path',
            },
          ],
        }),
      ),
      env: optional(applicationEnvironmentField),
      envFrom: optional(environmentSourcesField),
      services: optional(servicesField),
      tls: optional(tlsField),
      domains: optional(domainsField),
      redirects: optional(redirectsField),
      attributes: optional(
        map(text({ description: 'The value of the attribute.', min: 0, max: 1024 }), {
          description:
            'Further settings for the chart. The chart `web` reads `writable-root-filesystem`: `"true"` lets processes write to the file system of the image.',
          max: 50,
        }),
      ),
      isolated: optional(
        flag({
          description:
            'Set it to `true` for code that is not trusted. Its pods reach DNS and the internet, and are reached by the URL only: not the pods of this namespace and each other, not the token endpoint, not what the operator opened to applications. They run under a ServiceAccount that no RepositoryGrant can name. When `processes` is omitted, only `web` runs of those in the image. Previews of forks always are isolated.',
        }),
      ),
      ...releaseFields,
    },
    {
      description: 'What runs, and how.',
      rules: [
        followTagRule,
        {
          rule: "!has(self.processes) || self.processes.all(p, p.name != 'web' || has(p.port))",
          message: 'processes[web].port must be set: the URL leads to this port',
          fieldPath: '.processes',
        },
        {
          rule: '!has(self.processes) || !has(self.cron) || !self.cron.exists(c, self.processes.exists(p, p.name == c.name))',
          message: 'a process and an entry of cron must not have the same name: rename one of them',
          fieldPath: '.cron',
        },
        {
          rule: "!has(self.processes) || !has(self.volumes) || self.volumes.all(v, has(v.processes) ? v.processes.all(n, self.processes.exists(p, p.name == n)) : self.processes.exists(p, p.name == 'web'))",
          message: 'volumes[].processes must name processes of this Application (web when omitted): correct the name',
          fieldPath: '.volumes',
        },
        {
          rule: "!has(self.processes) || !has(self.volumes) || self.processes.all(p, (p.replicas <= 1 && !has(p.autoscaling)) || !self.volumes.exists(v, v.accessMode == 'ReadWriteOnce' && (has(v.processes) ? p.name in v.processes : p.name == 'web')))",
          message:
            'a process with a ReadWriteOnce volume has at most one pod: set replicas to 1 without autoscaling, or use a storage class with accessMode ReadWriteMany',
          fieldPath: '.processes',
        },
        ...redirectRules,
      ],
    },
  ),
  status: {
    url: optional(text({ description: 'The URL of the application.', max: 512 })),
    image: optional(
      text({ description: 'The image that runs. It changes when the rollout of a new image is complete.', max: 512 }),
    ),
    commit: optional(text({ description: 'The commit that runs. It changes together with `image`.', max: 64 })),
    processes: optional(
      list(
        object(
          {
            name: nameField('The name of the process.'),
            port: optional(integer({ description: 'The TCP port on which the process listens.', min: 1, max: 65_535 })),
          },
          { description: 'One process that was found.' },
        ),
        {
          description:
            'The processes that run because `spec.processes` is omitted: those of the image. Copy them to `spec.processes` to change one.',
          max: 10,
          unique: ['name'],
        },
      ),
    ),
    ...imageStatusFields,
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
    ...releaseStatusFields,
  },
  conditions: {
    Rendered: 'The chart was rendered, and the cluster has all of its objects.',
    Available: 'Every process answers, in this or in an earlier version.',
    Ready: 'Every process runs this generation with all of its replicas, and no older pod is left.',
    Autoscaling:
      'The number of pods follows the load. Absent without `autoscaling`, and while the Application is suspended. It says nothing about Ready.',
    Redirecting: 'The ingress redirects the hosts of `redirects`. Absent without these. It says nothing about Ready.',
    Following:
      'The platform knows which image the tag in `spec.image` means. Absent without `spec.followTag`. When it is False, what the tag meant before keeps running.',
  },
  reasons,
  rules: [
    {
      // Applications that exist stay as they are: one without a port needs no Service.
      rule: "oldSelf.hasValue() || self.metadata.name.matches('^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$')",
      optionalOldSelf: true,
      message:
        'metadata.name must begin with a letter and be a DNS label of at most 63 characters (lower-case letters, digits, hyphens), because it becomes the name of a Service: create the Application under such a name',
    },
  ],
  columns: [
    { name: 'URL', type: 'string', jsonPath: '.status.url' },
    // A printer column cannot cut the 40 digits: `sekisho status` shows eight.
    { name: 'Commit', type: 'string', jsonPath: '.status.commit', priority: 1 },
    { name: 'Release', type: 'integer', jsonPath: '.status.release' },
    ...readyColumns,
    ageColumn,
  ],
})

export type Application = ObjectOf<typeof application>
