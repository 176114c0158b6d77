// The credentials of services in the pods of an Application, as variables and files, whatever a chart rendered; release jobs and
// `sekisho run` take them from there. Jobs of charts are left out: their templates can never change. Pure; reads unchecked JSON.

import type { Application } from '../../../api/apps/application.ts'
import { bindingFiles, type ServiceUse, serviceEnvironment } from '../../../api/services/application-services.ts'
import { bindingSecretName } from '../../../api/services/binding-secret.ts'
import { type JsonObject, objectAt, objectsAt, textAt } from '../../../lib/json/json-value.ts'
import { filesFolder } from '../services/files-folder.ts'
import { podTemplatePath } from './pod-rules.ts'

/** What pods get of one entry. */
export type BoundService = {
  readonly name: string
  readonly secret: string
  readonly env: Readonly<Record<string, string>>
  /** The folder of its files; absent without files. */
  readonly folder?: string
}

/** What pods have beside the pods that a chart rendered. */
export type PodServices = { readonly bound?: readonly BoundService[] | undefined }

export function boundService(use: ServiceUse, bindingName: string, spec: Application['spec']): BoundService {
  const folder = filesFolder(spec)
  return {
    name: use.name,
    secret: bindingSecretName(bindingName),
    env: serviceEnvironment(use),
    ...(use.files === true && folder !== undefined ? { folder: `${folder}/${use.name}` } : {}),
  }
}

const volumeOf = ({ name }: BoundService): string => `${bindingFiles.volumePrefix}${name}`

function withService(container: JsonObject, bound: readonly BoundService[]): JsonObject {
  const env = objectsAt(container, 'env')
  const set = new Set(env.map(one => textAt(one, 'name')))
  const files = bound.filter(({ folder }) => folder !== undefined)
  const root = files[0]?.folder?.slice(0, -files[0].name.length - 1)
  const variables = bound.flatMap(({ secret, env: wanted }) =>
    Object.entries(wanted).map(([name, key]) => ({ name, valueFrom: { secretKeyRef: { name: secret, key } } })),
  )
  const added = [...variables, ...(root === undefined ? [] : [{ name: bindingFiles.variable, value: root }])]
  const mounts = files.map(one => ({ name: volumeOf(one), mountPath: one.folder, readOnly: true }))
  return {
    ...container,
    env: [...env, ...added.filter(({ name }) => !set.has(name))],
    ...(mounts.length === 0 ? {} : { volumeMounts: [...objectsAt(container, 'volumeMounts'), ...mounts] }),
  }
}

/** The spec of pods with the credentials; as it is for an Application without services, and for a Job. */
export function boundPodSpec(kind: unknown, spec: JsonObject, { bound = [] }: PodServices): JsonObject {
  if (bound.length === 0 || kind === 'Job') return spec
  const volumes = bound
    .filter(({ folder }) => folder !== undefined)
    .map(one => ({ name: volumeOf(one), secret: { secretName: one.secret } }))
  const init = objectsAt(spec, 'initContainers')
  return {
    ...spec,
    ...(volumes.length === 0 ? {} : { volumes: [...objectsAt(spec, 'volumes'), ...volumes] }),
    containers: objectsAt(spec, 'containers').map(one => withService(one, bound)),
    ...(init.length === 0 ? {} : { initContainers: init.map(one => withService(one, bound)) }),
  }
}

/** What a chart must not name, because it is the platform's; undefined for nothing. */
export function brokenServiceRule(object: JsonObject): string | undefined {
  const path = podTemplatePath(object)
  const spec = path && objectAt(object, ...path, 'spec')
  const taken = spec && objectsAt(spec, 'volumes').find(one => textAt(one, 'name')?.startsWith(bindingFiles.volumePrefix))
  return taken && `the volume ${textAt(taken, 'name')} is the platform's: choose another name`
}
