// Keeps the Secret of an AppSecret: writes it when a value changed, seals values again that a former key sealed, deletes it
// with the AppSecret, reports. The only file here that writes. Order: the Secret with its versions, then the status, from which
// Applications read the versions: a pod that starts with a version finds at least that version in the Secret.
import { type AppSecret, appSecretReasons, appSecret as appSecrets } from '../../api/apps/app-secret.ts'
import { type Secret, secrets } from '../../api/builtin/index.ts'
import { appSecretSecretName } from '../../api/names.ts'
import { keyOf, noVersion } from '../../api/resource.ts'
import type { SecretKeys } from '../../identity/sealed-values/secret-keys.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import { isKubeError, KubeError } from '../../kube/client/errors.ts'
import { done, type Outcome, type ReconcileContext, requeueAfter } from '../../kube/controller/controller.ts'
import { controllerOf, uidOf } from '../../kube/object/owner.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Refusal } from '../../policy/check.ts'
import { clusterRefusal } from '../kit/cluster-refusal.ts'
import { reconcileWithFinalizer } from '../kit/reconcile-with-finalizer.ts'
import type { StatusWriter } from '../kit/status-writer.ts'
import { type Decision, decide, presentVersions, versionsAnnotation } from './decide.ts'
import { desiredSecret, isAsDesired } from './desired.ts'
import { type Facts, gather } from './gather.ts'
import { nextStatus } from './status.ts'

export type AppSecretDeps = {
  readonly cache: Pick<Cache<AppSecret>, 'get'>
  readonly client: Pick<KubeClient, 'get' | 'apply' | 'mergePatch' | 'delete'>
  readonly status: StatusWriter<AppSecret>
  readonly keys: SecretKeys
  readonly clock: Clock
}

/** The field manager of the Secret, of what is sealed again, and of the status. */
export const fieldManager = 'sekisho.dev/app-secret'

/** Without it an AppSecret that is deleted without its dependents would leave its values behind. */
export const finalizer = 'sekisho.dev/app-secret'

/** What the cluster refuses today it may accept later, such as after a quota is raised. */
const refusedRetryMilliseconds = 60_000

/**
 * The cache can be behind the API server, after a restart by a lot: an outdated value must not replace a newer one.
 * @throws KubeError 409, so that the key is retried, when the AppSecret has another spec by now
 */
async function assertCurrent({ client }: AppSecretDeps, appSecret: AppSecret): Promise<void> {
  const live = await client.get(appSecrets, keyOf(appSecret))
  if (live?.metadata.uid === appSecret.metadata.uid && live?.metadata.generation === appSecret.metadata.generation) return
  const { namespace, name } = appSecret.metadata
  const message = `AppSecret ${namespace}/${name}: the cache is behind the API server`
  throw new KubeError(message, { status: 409, reason: 'Conflict' })
}

/** A new Secret is only ever created, so that one which appeared meanwhile is not overwritten. */
function versionOf(secret: Secret | undefined): { readonly resourceVersion: string } | { readonly uid: string } {
  return secret === undefined ? { resourceVersion: noVersion } : { uid: uidOf(secret) }
}

type Kept = Extract<Decision, { kind: 'keep' }>

/** Undefined when the Secret has the values. */
async function keepSecret(deps: AppSecretDeps, { appSecret, secret }: Facts, decision: Kept): Promise<Refusal | undefined> {
  const desired = desiredSecret(appSecret, decision.values, decision.versions)
  if (isAsDesired(secret, desired)) return undefined
  await assertCurrent(deps, appSecret)
  const object = { ...desired, metadata: { ...desired.metadata, ...versionOf(secret) } }
  try {
    await deps.client.apply(secrets, object, { fieldManager, force: true })
    return undefined
  } catch (error) {
    // The namespace is gone, or the Secret that was to be changed.
    if (isKubeError(error, 404)) throw error
    return { reason: appSecretReasons.refusedByCluster, message: clusterRefusal(desired, error).message }
  }
}

/** Replaces ciphertexts only: the values stay what they are. A conflict is a 409, and the next reconcile retries. */
async function sealAgain({ client, keys }: AppSecretDeps, { appSecret }: Facts, decision: Kept): Promise<void> {
  const { namespace = '', name, uid, resourceVersion } = appSecret.metadata
  const entries = decision.formerlySealed.map(async key => {
    const value = decision.values[key]
    return value === undefined ? [] : [[key, await keys.seal(value, { namespace, name, key })] as const]
  })
  const sealed = Object.fromEntries((await Promise.all(entries)).flat())
  const patch = { metadata: { uid, resourceVersion }, spec: { sealed } }
  await client.mergePatch(appSecrets, { namespace, name }, patch, { fieldManager })
}

async function keep(deps: AppSecretDeps, appSecret: AppSecret): Promise<Outcome> {
  const facts = await gather(deps, appSecret)
  const decision = decide(facts)
  const refusal = decision.kind === 'refused' ? decision : await keepSecret(deps, facts, decision)
  const versions = decision.kind === 'keep' && refusal === undefined ? decision.versions : versionsInForce(facts)
  const reported = refusal && { reason: refusal.reason, message: refusal.message }
  const written = await deps.status.write(appSecret, nextStatus(appSecret, { versions, refusal: reported }, deps.clock.now()))
  if (decision.kind === 'keep' && decision.formerlySealed.length > 0)
    await sealAgain(deps, { ...facts, appSecret: deps.status.latest(written) }, decision)
  return refusal?.reason === appSecretReasons.refusedByCluster ? requeueAfter(refusedRetryMilliseconds) : done
}

/** What pods get while the Secret could not be brought up to date: nothing, unless it is ours. */
function versionsInForce(facts: Facts) {
  const own = facts.secret !== undefined && controllerOf(facts.secret)?.uid === facts.appSecret.metadata.uid
  const present = presentVersions(own ? facts : { ...facts, secret: undefined })
  return own ? present : { version: present.version, keys: {} }
}

/** An orphaning deletion takes the owner from the Secret; the annotation, which only the platform can set, stays. */
function isLeftBy(appSecret: AppSecret, secret: Secret): boolean {
  const owner = controllerOf(secret)
  const isOrphan = owner === undefined && secret.metadata.annotations?.[versionsAnnotation] !== undefined
  return isOrphan || owner?.uid === appSecret.metadata.uid
}

/** Resolves when the Secret is gone. One that is not ours is left alone. */
async function end({ client }: AppSecretDeps, appSecret: AppSecret): Promise<undefined> {
  const { namespace = '', name } = appSecret.metadata
  const key = { namespace, name: appSecretSecretName(name) }
  const secret = await client.get(secrets, key)
  if (secret !== undefined && isLeftBy(appSecret, secret)) await client.delete(secrets, key, { uid: uidOf(secret) })
  return undefined
}

/** Idempotent. */
export function reconcileAppSecret(deps: AppSecretDeps, context: Pick<ReconcileContext, 'key'>): Promise<Outcome> {
  const { client, cache, status } = deps
  const kind = { type: appSecrets, finalizer, client, cache, status }
  return reconcileWithFinalizer(
    { ...kind, keep: appSecret => keep(deps, appSecret), end: appSecret => end(deps, appSecret) },
    context,
  )
}
