// The pods of an Application that a RepositoryGrant names run under a ServiceAccount of their own, with the files by which a
// program asks the token desk, and with the Secrets of grants that have that delivery, whatever a chart rendered. Jobs of charts are left out: their templates can never change, so that
// each grant would stop the Application. Pure; reads unchecked JSON.
import { applicationAccountPrefix, authorityConfigMap, identityFiles } from '../../../api/application-account.ts'
import { serviceAccounts } from '../../../api/builtin/index.ts'
import { tokenDeskAudience } from '../../../api/names.ts'
import { tokenFiles } from '../../../api/reserved-secrets.ts'
import { type JsonObject, objectAt, objectsAt, textAt } from '../../../lib/json/json-value.ts'
import { boundedName } from '../../../lib/text/bounded-name.ts'
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

/** A Secret with a token, which the platform keeps for the pods of an Application under one grant. */
export type TokenSecret = {
  readonly grant: string
  readonly secret: string
  /** The kubelet pulls images with it; others are mounted. */
  readonly pulls: boolean
}

/** Volumes have names of at most 63 characters. */
const volumeOf = ({ grant }: TokenSecret): string => boundedName(`${tokenFiles.volumePrefix}${grant}`, 63)

/** The ServiceAccount itself, as a chart would render it. */
export function accountObject(account: string): JsonObject {
  const { apiVersion, kind } = serviceAccounts
  return { apiVersion, kind, metadata: { name: account }, automountServiceAccountToken: false }
}

/** Optional: pods start before there is a token, and go on when its grant ends. */
function tokenVolumes(tokens: readonly TokenSecret[]): readonly JsonObject[] {
  return tokens
    .filter(({ pulls }) => !pulls)
    .map(token => ({ name: volumeOf(token), secret: { secretName: token.secret, optional: true } }))
}

function tokenMounts(tokens: readonly TokenSecret[]) {
  return tokens
    .filter(({ pulls }) => !pulls)
    .map(token => ({ name: volumeOf(token), mountPath: `${tokenFiles.folder}/${token.grant}`, readOnly: true }))
}

function withMounts(container: JsonObject, tokens: readonly TokenSecret[]): JsonObject {
  const given = objectsAt(container, 'volumeMounts')
  const free = [...mounts, ...tokenMounts(tokens)].filter(({ mountPath }) =>
    given.every(mount => mount['mountPath'] !== mountPath),
  )
  return { ...container, volumeMounts: [...given, ...free] }
}

/** What pods have beside the pods that a chart rendered. */
export type PodAccount = {
  /** The ServiceAccount, where a RepositoryGrant names the Application. */
  readonly account?: string | undefined
  readonly tokens?: readonly TokenSecret[] | undefined
}

/** The spec of pods under the account; as it is for an Application without one, and for a Job. */
export function accountPodSpec(kind: unknown, spec: JsonObject, { account, tokens = [] }: PodAccount): JsonObject {
  if (account === undefined || kind === 'Job') return spec
  const { serviceAccount: _former, ...rest } = spec
  const pulling = tokens.filter(({ pulls }) => pulls).map(({ secret: name }) => ({ name }))
  const init = objectsAt(spec, 'initContainers')
  return {
    ...rest,
    serviceAccountName: account,
    ...(pulling.length === 0 ? {} : { imagePullSecrets: [...objectsAt(spec, 'imagePullSecrets'), ...pulling] }),
    volumes: [...objectsAt(spec, 'volumes'), ...volumes, ...tokenVolumes(tokens)],
    containers: objectsAt(spec, 'containers').map(one => withMounts(one, tokens)),
    ...(init.length === 0 ? {} : { initContainers: init.map(one => withMounts(one, tokens)) }),
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
  const isOwn = (name: string): boolean => own.some(one => one === name) || name.startsWith(tokenFiles.volumePrefix)
  const taken = objectsAt(spec, 'volumes').find(volume => isOwn(textAt(volume, 'name') ?? ''))
  return taken && `the volume ${textAt(taken, 'name')} is the platform's: choose another name`
}
