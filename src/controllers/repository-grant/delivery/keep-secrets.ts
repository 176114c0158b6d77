// Keeps the Secrets of a grant with the delivery `Secret`: one with a token for each subject while the grant is ready, none
// otherwise. The only file that writes them. Order: the Secret exists, without a token, before GitHub is asked for one, so that
// no token is made that the cluster does not take; the token is in the registry before it is in the Secret, and what a crash
// leaves between the two is found there by the next run. Never adopts a Secret that somebody else made.
import { applicationAccount } from '../../../api/application-account.ts'
import { application } from '../../../api/apps/application.ts'
import { type Secret, secrets, serviceAccounts } from '../../../api/builtin/index.ts'
import { optInDelivery } from '../../../api/github/repository-grant/delivery.ts'
import { type RepositoryGrant, repositoryGrantReasons as reasons } from '../../../api/github/repository-grant.ts'
import { tokenSecretName } from '../../../api/reserved-secrets.ts'
import { noVersion } from '../../../api/resource.ts'
import type { KubeClient } from '../../../kube/client/client.ts'
import { isGone } from '../../../kube/client/errors.ts'
import type { WantedCondition } from '../../../kube/object/conditions.ts'
import { uidOf } from '../../../kube/object/owner.ts'
import type { Clock } from '../../../lib/clock.ts'
import { isAppError } from '../../../lib/errors.ts'
import type { Refusal } from '../../../policy/check.ts'
import type { DeliveredToken, TokenDesk } from '../../../services/token-desk/token-desk.ts'
import type { TokenRegistry } from '../../../store/token-registry.ts'
import { clusterRefusal } from '../../kit/cluster-refusal.ts'
import { retryMilliseconds, unreachable } from '../../kit/github-unreachable.ts'
import { soonest } from '../../kit/soonest.ts'
import { desiredTokenSecret, isOfGrant, stepOf, writtenIn } from './token-secret.ts'

export type DeliveryDeps = {
  readonly client: Pick<KubeClient, 'get' | 'apply' | 'delete'>
  readonly desk: Pick<TokenDesk, 'request' | 'revokeBy'>
  readonly tokens: Pick<TokenRegistry, 'hasLive' | 'liveBy'>
  readonly clock: Clock
}

/** What became of all Secrets of a grant, and in how many milliseconds they are looked at again. */
export type Delivered = { readonly condition: WantedCondition; readonly again: number }

const fieldManager = 'sekisho.dev/repository-grant-secret'
/** Nobody may list Secrets, so a change behind our back wakes nobody: it is found by looking. */
const lookMilliseconds = 120_000
const refusedRetryMilliseconds = 60_000
/** While GitHub is unreachable, the desk gives the token of before to whoever asks. */
const shortestMilliseconds = 30_000

const maxMessage = 1000

type Subject = RepositoryGrant['spec']['subjects'][number]

/** Whether the grant is delivered by a Secret. */
export function isDeliveredBySecret({ spec }: Pick<RepositoryGrant, 'spec'>): boolean {
  return spec.delivery === optInDelivery
}

function keyOfSecret({ metadata: { namespace = '', name } }: RepositoryGrant, subject: Subject) {
  const account = subject.kind === application.kind ? applicationAccount(subject.name) : subject.name
  return { namespace, name: tokenSecretName(account, name) }
}

/**
 * The condition `Delivered` of a grant that is ready.
 * @throws KubeError when a retry may succeed, and what the registry throws
 */
export async function keepSecrets(deps: DeliveryDeps, grant: RepositoryGrant): Promise<Delivered> {
  const kept: Kept[] = []
  for (const subject of grant.spec.subjects) kept.push(await keepOne(deps, grant, subject))
  const again = soonest(...kept.map(one => one.again), lookMilliseconds) ?? lookMilliseconds
  const refusal = kept.map(one => one.refusal).find(one => one !== undefined)
  if (refusal !== undefined) return { condition: { type: 'Delivered', status: 'False', ...refusal }, again }
  const names = grant.spec.subjects.map(subject => keyOfSecret(grant, subject).name).join(', ')
  const message = `a token is in the Secret ${names}, and is renewed before it ends`.slice(0, maxMessage)
  return { condition: { type: 'Delivered', status: 'True', reason: reasons.secretWritten, message }, again }
}

/** Resolves when none of its Secrets is left. What somebody else made is left alone. */
export async function removeSecrets({ client }: Pick<DeliveryDeps, 'client'>, grant: RepositoryGrant): Promise<void> {
  for (const subject of grant.spec.subjects) {
    const key = keyOfSecret(grant, subject)
    const secret = await client.get(secrets, key)
    if (secret !== undefined && isOfGrant(secret, grant)) await client.delete(secrets, key, { uid: uidOf(secret) })
  }
}

type Kept = { readonly refusal?: Refusal; readonly again: number }

function refused(reason: string, message: string, again = refusedRetryMilliseconds): Kept {
  return { refusal: { reason, message: message.slice(0, maxMessage) }, again }
}

async function keepOne(deps: DeliveryDeps, grant: RepositoryGrant, subject: Subject): Promise<Kept> {
  const { client, clock } = deps
  const key = keyOfSecret(grant, subject)
  const secret = await client.get(secrets, key)
  const now = clock.now()
  const written = secret && writtenIn(secret, grant)
  const isLive = written !== undefined && (await isRegistered(deps, grant, written.hashedToken))
  const step = stepOf({ grant, secret, isLive, now })
  if (step === 'foreign') {
    const message = `Secret ${key.name} exists and was not made for this grant: a platform admin has to delete it`
    return refused(reasons.nameTaken, message)
  }
  const uid = await uidOfSubject(deps, grant, subject)
  if (uid === undefined) {
    if (secret !== undefined) await client.delete(secrets, key, { uid: uidOf(secret) })
    await revokeOf(deps, grant, subject, 'the subject of the grant is gone')
    return refused(reasons.subjectNotFound, `there is no ${subject.kind} ${subject.name}: create it`)
  }
  if (step === 'keep' && written) return { again: written.renewFrom.getTime() - now.getTime() + 1000 }
  // What others added to a Secret stays through an apply: one that was changed is made again.
  if (step === 'replace' && secret) await client.delete(secrets, key, { uid: uidOf(secret) })
  const isNew = step === 'create' || step === 'replace'
  return write(deps, { grant, subject, uid, secret: isNew ? undefined : secret })
}

async function isRegistered({ tokens }: DeliveryDeps, { metadata }: RepositoryGrant, hashedToken: string): Promise<boolean> {
  return metadata.uid !== undefined && (await tokens.hasLive({ grantUid: metadata.uid, hashedToken }))
}

/** An Application as it was approved; a ServiceAccount as it is now. */
async function uidOfSubject(deps: DeliveryDeps, grant: RepositoryGrant, { kind, name }: Subject): Promise<string | undefined> {
  if (kind === application.kind) return grant.status?.applications?.find(bound => bound.name === name)?.uid
  const account = await deps.client.get(serviceAccounts, { namespace: grant.metadata.namespace ?? '', name })
  return account?.metadata.deletionTimestamp === undefined ? account?.metadata.uid : undefined
}

type Writing = {
  readonly grant: RepositoryGrant
  readonly subject: Subject
  readonly uid: string
  /** Undefined when it was deleted or changed: the token of before is not to be used again. */
  readonly secret: Secret | undefined
}

async function write(deps: DeliveryDeps, { grant, subject, uid, secret }: Writing): Promise<Kept> {
  const key = keyOfSecret(grant, subject)
  let own = secret
  try {
    if (own === undefined) {
      await revokeOf(deps, grant, subject, 'its Secret was deleted or changed')
      const made = await apply(deps, grant, key.name, undefined)
      if ('refusal' in made) return made
      own = made.object
    }
    const { namespace } = key
    const token = await deps.desk.request({
      grant,
      subject: { kind: subject.kind, namespace, name: subject.name, uid },
      actor: 'sekisho:repository-grant',
      delivery: optInDelivery,
    })
    const filled = await apply(deps, grant, key.name, { secret: own, token })
    if ('refusal' in filled) return filled
    return { again: Math.max(shortestMilliseconds, token.renewFrom.getTime() - deps.clock.now().getTime() + 1000) }
  } catch (error) {
    if (!isAppError(error)) throw error
    // What the desk refuses to this subject by now must not be used for longer, either. Others may go on.
    if (error.code === 'forbidden' && own !== undefined) await deps.client.delete(secrets, key, { uid: uidOf(own) })
    const again = error.code === 'forbidden' ? lookMilliseconds : retryMilliseconds(unreachable(error))
    return refused(reasons.tokenNotIssued, `${subject.kind} ${subject.name}: ${error.message}`, again)
  }
}

type Filling = { readonly secret: Secret; readonly token: DeliveredToken }
type AppliedSecret = { readonly object: Secret } | (Kept & { readonly refusal: Refusal })

/** Only ever creates without `filling`, and changes only that very Secret with it. */
async function apply(
  { client }: DeliveryDeps,
  grant: RepositoryGrant,
  name: string,
  filling: Filling | undefined,
): Promise<AppliedSecret> {
  const desired = desiredTokenSecret(grant, name, filling?.token)
  const version = filling === undefined ? { resourceVersion: noVersion } : { uid: uidOf(filling.secret) }
  const object = { ...desired, metadata: { ...desired.metadata, ...version } }
  try {
    return { object: await client.apply(secrets, object, { fieldManager, force: filling !== undefined }) }
  } catch (error) {
    if (isGone(error)) throw error
    const { message } = clusterRefusal(desired, error)
    return { refusal: { reason: reasons.refusedByCluster, message }, again: refusedRetryMilliseconds }
  }
}

/** Those that the subject has and that nobody began to revoke. */
async function revokeOf({ desk, tokens }: DeliveryDeps, grant: RepositoryGrant, subject: Subject, reason: string): Promise<void> {
  const { uid: grantUid } = grant.metadata
  if (grantUid === undefined) return
  const found = await tokens.liveBy({ grantUid })
  const own = found.filter(
    ({ subject: of, ending }) => of.kind === subject.kind && of.name === subject.name && ending === undefined,
  )
  for (const { id } of own) await desk.revokeBy({ id }, reason)
}
