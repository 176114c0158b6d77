// The Job of `sekisho run`: one pod with what the Application's own pods have, except that nothing checks it and nothing
// restarts it. Pure.
import { applicationOfAccount, identityFiles } from '../../../api/application-account.ts'
import type { Application } from '../../../api/apps/application.ts'
import { runsIn } from '../../../api/apps/remote-sync/applications.ts'
import { folderInBuild } from '../../../api/apps/remote-sync/build-fields.ts'
import type { RemoteSync } from '../../../api/apps/remote-sync.ts'
import { namespacedKind } from '../../../api/builtin/resource-type.ts'
import type { Deployment } from '../../../api/builtin/workloads.ts'
import { isReservedKey, labels, reservedSecretPrefix } from '../../../api/names.ts'
import { literal, literalWords } from '../../../api/pods/literal.ts'
import { tokenFiles } from '../../../api/reserved-secrets.ts'
import type { KubeObject } from '../../../api/resource.ts'
import { taskLabel } from '../../../api/task-names.ts'
import type { NewObject } from '../../../kube/client/client.ts'
import { AppError } from '../../../lib/errors.ts'
import { defined } from '../../../lib/json/defined.ts'
import { type JsonObject, listAt, objectAt, objectsAt, textAt } from '../../../lib/json/json-value.ts'
import { didYouMean } from '../../kubernetes/similar-names.ts'

export type Job = KubeObject & {
  readonly spec?: JsonObject
  readonly status?: {
    readonly conditions?: readonly {
      readonly type: string
      readonly status: string
      readonly reason?: string
      readonly message?: string
    }[]
  }
}
export const jobs = namespacedKind<Job>('batch/v1', 'Job', 'jobs')

/** What the container reads: `terminal` with one of its own. */
export type TaskInput = 'none' | 'stream' | 'terminal'

export type Task = {
  readonly command: readonly string[]
  readonly process: string | undefined
  readonly timeoutSeconds: number
  readonly detach: boolean
  readonly volumes: boolean
  readonly input: TaskInput
  /** What the names of the person's own commands begin with, to which alone one can attach; undefined for who is no person. */
  readonly ownPrefix: string | undefined
}

/** Removed by Kubernetes when nobody deletes it: the command that started it has ended, or did not wait. */
const keptSeconds = { attached: 300, detached: 86_400 }
/** The launcher of buildpacks starts commands there. Source: the platform specification, "CNB_APP_DIR". */
const folderVariable = 'CNB_APP_DIR'
const launcher = ['/cnb/lifecycle/launcher', '--']

/** The Deployment whose pods the task resembles. Throws `not_found`, with the processes that exist. */
export function deploymentFor(application: string, all: readonly Deployment[], process: string | undefined): Deployment {
  const byName = new Map(all.map(deployment => [deployment.metadata.labels?.[labels.process] ?? '', deployment]))
  const chosen = process === undefined ? (byName.get('web') ?? all[0]) : byName.get(process)
  if (chosen !== undefined) return chosen
  const names = [...byName.keys()]
  throw new AppError(
    'not_found',
    all.length === 0
      ? `${application} runs no process yet, so there is nothing to take image and settings from: sekisho why application/${application}`
      : `${application} has no process ${process}; there ${names.length === 1 ? 'is' : 'are'} ${names.join(', ')}${didYouMean(process ?? '', names)}`,
  )
}

/** Images of buildpacks set their environment in the launcher; others run the command as it is. */
function commandOf(template: JsonObject, builtByBuildpacks: boolean, command: readonly string[]): readonly string[] {
  const [program] = listAt(objectsAt(objectAt(template, 'spec'), 'containers')[0], 'command')
  const launched = typeof program === 'string' && program.startsWith('/cnb/')
  return launched || builtByBuildpacks ? [...launcher, ...command] : command
}

/** The folder of what was built in which the application is, where a builder of the platform built the image. */
export function builtFolder({ metadata, spec }: Application, syncs: readonly RemoteSync[]): string | undefined {
  const sync = syncs.find(one => runsIn(one.spec, metadata.name) && one.status?.image === spec.image)
  return sync === undefined || sync.spec.build.builder !== undefined ? undefined : folderInBuild(sync.spec)
}

/** Whether a RemoteSync built the image with buildpacks. */
export function builtByBuildpacks({ metadata, spec }: Application, syncs: readonly RemoteSync[]): boolean {
  return syncs.some(
    sync => runsIn(sync.spec, metadata.name) && sync.status?.image === spec.image && sync.spec.build.strategy === 'Buildpacks',
  )
}

/** `folder`: as `builtFolder`. */
type BuiltTask = Task & { readonly buildpacks: boolean; readonly folder?: string | undefined }

/** Where the command starts, unless the containers of the Application are told already. */
function placeIn(container: JsonObject, { buildpacks, folder = '.' }: BuiltTask): JsonObject {
  const env = objectsAt(container, 'env')
  if (!buildpacks || folder === '.' || env.some(({ name }) => name === folderVariable)) return {}
  return { env: [{ name: folderVariable, value: literal(`/workspace/${folder}`) }, ...env] }
}

/**
 * The Job to create. Throws `forbidden` for an isolated Application: only the platform can cut a pod off from the tenant, and a
 * person's pod with code that is not trusted would reach everything that the tenant's pods reach.
 */
export function taskJob(application: Application, deployment: Deployment, task: BuiltTask): NewObject<Job> {
  const template = objectAt(deployment, 'spec', 'template') ?? {}
  const { name, namespace } = application.metadata
  if (application.spec.isolated === true)
    throw new AppError(
      'forbidden',
      `${name} is isolated because its code is not trusted: a pod of yours with its image would not be, and would reach the services of ${namespace}`,
    )
  const annotations = Object.entries(objectAt(template, 'metadata', 'annotations') ?? {}).filter(([key]) => !isReservedKey(key))
  return {
    apiVersion: jobs.apiVersion,
    kind: jobs.kind,
    metadata: {
      generateName: task.ownPrefix === undefined ? `${name.slice(0, 40)}-run-` : `${task.ownPrefix}${name.slice(0, 20)}-`,
      ...defined({ namespace }),
      labels: { [taskLabel]: name },
    },
    spec: {
      backoffLimit: 0,
      activeDeadlineSeconds: task.timeoutSeconds,
      ttlSecondsAfterFinished: task.detach ? keptSeconds.detached : keptSeconds.attached,
      template: {
        metadata: {
          labels: { [taskLabel]: name },
          ...(annotations.length === 0 ? {} : { annotations: Object.fromEntries(annotations) }),
        },
        spec: { ...podSpec(template, task), restartPolicy: 'Never' },
      },
    },
  }
}

/** The files by which the pods of an Application ask for the tokens of its grants, and those with such tokens. */
function isIdentity(volume: JsonObject): boolean {
  const name = textAt(volume, 'name') ?? ''
  return name.startsWith(tokenFiles.volumePrefix) || Object.values(identityFiles).some(file => file.volume === name)
}

/**
 * The pod of a person does not run under the ServiceAccount of an Application: its grants are for what the platform runs, and
 * the API server refuses it.
 */
function withoutAccount(spec: JsonObject): JsonObject {
  const { serviceAccountName, serviceAccount, ...rest } = spec
  const isOwn = typeof serviceAccountName === 'string' && applicationOfAccount(serviceAccountName) !== undefined
  const pulling = objectsAt(spec, 'imagePullSecrets').filter(
    one => textAt(one, 'name')?.startsWith(reservedSecretPrefix) !== true,
  )
  const without = spec['imagePullSecrets'] === undefined ? rest : { ...rest, imagePullSecrets: pulling }
  return isOwn ? without : { ...rest, ...defined({ serviceAccountName, serviceAccount }) }
}

const notInTask = new Set(['livenessProbe', 'readinessProbe', 'startupProbe', 'ports', 'lifecycle', 'args'])

function podSpec(template: JsonObject, task: BuiltTask): JsonObject {
  const spec = objectAt(template, 'spec') ?? {}
  const dropped = new Set(
    objectsAt(spec, 'volumes')
      .filter(volume => isIdentity(volume) || (volume['persistentVolumeClaim'] !== undefined && !task.volumes))
      .map(volume => textAt(volume, 'name')),
  )
  const [first = {}] = objectsAt(spec, 'containers')
  const kept = Object.fromEntries(Object.entries(first).filter(([field]) => !notInTask.has(field)))
  const container = {
    ...kept,
    ...placeIn(kept, task),
    name: 'task',
    command: literalWords(commandOf(template, task.buildpacks, task.command)),
    // Read once: when the person's connection ends, so does the input.
    ...(task.input === 'none' ? {} : { stdin: true, stdinOnce: true, tty: task.input === 'terminal' }),
    volumeMounts: objectsAt(first, 'volumeMounts').filter(mount => !dropped.has(textAt(mount, 'name'))),
  }
  const { terminationGracePeriodSeconds: _, ...rest } = withoutAccount(spec)
  return {
    ...rest,
    containers: [container],
    volumes: objectsAt(spec, 'volumes').filter(volume => !dropped.has(textAt(volume, 'name'))),
  }
}
