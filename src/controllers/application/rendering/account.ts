// The pods of an Application that a RepositoryGrant names run under a ServiceAccount of their own, with the files by which a
// program asks the token desk, whatever a chart rendered. Jobs of charts are left out: their templates can never change, so that
// each grant would stop the Application. Pure; reads unchecked JSON.
import { applicationAccountPrefix, authorityConfigMap, identityFiles } from '../../../api/application-account.ts'
import { serviceAccounts } from '../../../api/builtin/index.ts'
import { tokenDeskAudience } from '../../../api/names.ts'
import { type JsonObject, objectAt, objectsAt, textAt } from '../../../lib/json/json-value.ts'
import { changedAt, podTemplatePath } from './pod-rules.ts'

/** The kubelet renews it long before. */
const identitySeconds = 3600
const { identity, authority } = identityFiles
const volumes: readonly JsonObject[] = [
  {
    name: identity.volume,
    projected: {
      sources: [
        { serviceAccountToken: { audience: tokenDeskAudience, expirationSeconds: identitySeconds, path: identity.file } },
      ],
    },
  },
  { name: authority.volume, configMap: { name: authorityConfigMap } },
]
const mounts = [identity, authority].map(({ volume, folder }) => ({ name: volume, mountPath: folder, readOnly: true }))

/** The ServiceAccount itself, as a chart would render it. */
export function accountObject(account: string): JsonObject {
  const { apiVersion, kind } = serviceAccounts
  return { apiVersion, kind, metadata: { name: account }, automountServiceAccountToken: false }
}

function withMounts(container: JsonObject): JsonObject {
  const given = objectsAt(container, 'volumeMounts')
  const free = mounts.filter(({ mountPath }) => given.every(mount => mount['mountPath'] !== mountPath))
  return { ...container, volumeMounts: [...given, ...free] }
}

/** The spec of pods under the account; as it is for an Application without one, and for a Job. */
export function accountPodSpec(kind: unknown, spec: JsonObject, account: string | undefined): JsonObject {
  if (account === undefined || kind === 'Job') return spec
  const { serviceAccount: _former, ...rest } = spec
  const init = objectsAt(spec, 'initContainers')
  return {
    ...rest,
    serviceAccountName: account,
    volumes: [...objectsAt(spec, 'volumes'), ...volumes],
    containers: objectsAt(spec, 'containers').map(withMounts),
    ...(init.length === 0 ? {} : { initContainers: init.map(withMounts) }),
  }
}

/**
 * What is applied to an object whose pods were under an account that goes: where a manifest no longer names one, the API server
 * keeps the name in the old field `serviceAccount`, and takes it from there.
 * Source: https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#PodSpec
 */
export function underDefaultAccount<T extends JsonObject>(manifest: T): T {
  const path = podTemplatePath(manifest)
  if (path === undefined || manifest['kind'] === 'Job') return manifest
  return changedAt(manifest, [...path, 'spec'], spec => ({ serviceAccountName: 'default', ...spec })) as T
}

/** What a chart must not name, because it belongs to the platform or to another Application; undefined for nothing. */
export function brokenAccountRule(object: JsonObject): string | undefined {
  const reserved = (name: string | undefined): boolean => name?.startsWith(applicationAccountPrefix) === true
  const refusal = `names that begin with ${applicationAccountPrefix} are of the platform, which makes such a ServiceAccount where a RepositoryGrant names the Application`
  if (object['kind'] === 'ServiceAccount') return reserved(textAt(objectAt(object, 'metadata'), 'name')) ? refusal : undefined
  const path = podTemplatePath(object)
  const spec = path && objectAt(object, ...path, 'spec')
  if (spec === undefined) return undefined
  if (reserved(textAt(spec, 'serviceAccountName')) || reserved(textAt(spec, 'serviceAccount'))) return refusal
  const own = [identity.volume, authority.volume]
  const taken = objectsAt(spec, 'volumes').find(({ name }) => own.some(one => one === name))
  return taken && `the volume ${textAt(taken, 'name')} is the platform's: choose another name`
}
