// The way from GitHub to the image: delivery, grant, token, commit, fetch, queue, build. Pure.
import { type RemoteSync, remoteSyncReasons as reasons, remoteSync as remoteSyncs } from '../../../api/apps/remote-sync.ts'
import { repositoryGrantReasons as grantReasons, type RepositoryGrant } from '../../../api/github/repository-grant.ts'
import { personText, wakeAnnotation } from '../../../api/names.ts'
import { classOf } from '../../../api/reasons/reason.ts'
import type { Condition } from '../../../api/resource.ts'
import { findCondition } from '../../../kube/object/conditions.ts'
import { controllerOf } from '../../../kube/object/owner.ts'
import { deliveredCure, deliveredOf } from '../grants/delivered.ts'
import type { Facts } from './facts.ts'
import {
  conditionOf,
  fromCondition,
  type Judgement,
  observed,
  ok,
  open,
  type Step,
  secondsSince,
  waiting,
  wrong,
} from './step.ts'

const builtHere = ({ remoteSync }: Facts): RemoteSync | undefined => remoteSync

/** For a RemoteSync, the steps of one; for others undefined. */
const ofSync =
  (judge: (sync: RemoteSync, facts: Facts) => Judgement | undefined) =>
  (facts: Facts): Judgement | undefined => {
    const sync = builtHere(facts)
    return sync === undefined ? undefined : judge(sync, facts)
  }

function installationStep({ remoteSync, grant, installation }: Facts): Judgement | undefined {
  const wanted = remoteSync?.spec.installation ?? grant?.spec.installation
  if (wanted === undefined) return undefined
  if (installation === undefined)
    return wrong(
      `there is no Installation ${wanted}`,
      `kubectl get installations shows the names: correct spec.installation; without any, an owner of the organization onboards it`,
    )
  const ready = fromCondition(
    conditionOf(installation, 'Ready'),
    'an owner of the GitHub organization repairs or reinstalls the App there',
  )
  return ready.mark === 'ok' ? ok(`the App is installed on ${installation.spec.account.login}`) : ready
}

function grantStep({ remoteSync, grant, now }: Facts): Judgement | undefined {
  if (remoteSync === undefined && grant === undefined) return undefined
  const resolved = remoteSync && conditionOf(remoteSync, 'Resolved')
  // The RemoteSync cannot have a grant of its own; the message has the cure.
  if (resolved?.reason === reasons.grantConflict || resolved?.reason === reasons.grantQuotaExceeded)
    return fromCondition(resolved)
  if (grant === undefined) return waiting('the platform has not made the RepositoryGrant of the RemoteSync yet')
  const { name } = grant.metadata
  const expired = secondsSince(grant.status?.expiresAt, now)
  if (grant.status?.expiresAt !== undefined && Date.parse(grant.status.expiresAt) <= now.getTime())
    return wrong(`RepositoryGrant ${name} expired ${expired} s ago`, 'delete it and create it again')
  const approved = fromCondition(conditionOf(grant, 'Approved'), cureOfGrant(grant, remoteSync))
  if (approved.mark !== 'ok') return approved
  const ready = fromCondition(conditionOf(grant, 'Ready'), cureOfGrant(grant, remoteSync))
  return ready.mark === 'ok'
    ? ok(`RepositoryGrant ${name} allows ${grant.spec.repositories.join(', ')}${remoteSync ? '' : subjectsOf(grant)}`)
    : ready
}

/** The token in a Secret, of a grant that is delivered as one. */
function secretStep({ grant }: Facts): Judgement | undefined {
  if (grant?.spec.delivery !== 'Secret') return undefined
  const { status, reason } = conditionOf(grant, 'Ready') ?? {}
  if (status !== 'True') return open(`waits for the grant${reason === undefined ? '' : ` (${reason})`}`)
  const delivered = deliveredOf(grant)
  return delivered === undefined
    ? waiting('the Secret with the token is not made yet')
    : fromCondition(delivered, deliveredCure(delivered))
}

/** The RemoteSync of a preview asks in the name of its AppPipeline. */
function whoAsks(sync: RemoteSync): string {
  const { kind, name } = controllerOf(sync) ?? { kind: 'RemoteSync', name: sync.metadata.name }
  return `${kind.toLowerCase()}/${name}`
}

/** Those of a grant that no RemoteSync owns. */
function subjectsOf({ spec }: RepositoryGrant): string {
  return ` to ${spec.subjects.map(({ kind, name }) => `${kind} ${name}`).join(', ')}`
}

const ofApplication: ReadonlySet<string> = new Set([
  grantReasons.applicationNotFound,
  grantReasons.applicationReplaced,
  grantReasons.applicationIsolated,
])

/** Above the Installation another requester would be refused as well. */
function cureOfGrant({ spec, status }: RepositoryGrant, sync: RemoteSync | undefined): string {
  if (findCondition(status?.conditions, 'Approved')?.reason === grantReasons.aboveCeiling)
    return 'an owner of the account opens /onboard of the platform and continues with it, which takes over what is selected on GitHub; or ask for less'
  if (ofApplication.has(findCondition(status?.conditions, 'Ready')?.reason ?? ''))
    return 'delete the grant and create it again for the Application that is there now'
  const { reason } = findCondition(status?.conditions, 'Ready') ?? {}
  if (reason === grantReasons.deniedByPerson)
    return 'ask who denied it (sekisho grants explain); it is decided again when they take it back'
  if (reason === grantReasons.deniedByPolicy || reason === grantReasons.deniedByGrantPolicy)
    return 'ask for less, or ask those who write what is allowed: an admin of the tenant a GrantPolicy, a platform admin a ClusterGrantPolicy; the grant is then decided again by itself'
  const who = personText(spec.requestedBy, status?.requester?.login)
  return sync === undefined
    ? `it was asked in the name of ${who}: that person needs the access on GitHub, or somebody who has it creates the grant`
    : `it is asked in the name of ${who}: that person needs the access on GitHub, or somebody who has it runs sekisho transfer ${whoAsks(sync)}`
}

function deliveryStep({ metadata, spec, status }: RemoteSync, { now }: Facts): Judgement {
  const wake = metadata.annotations?.[wakeAnnotation]
  if (wake !== undefined && wake !== status?.handledWake) return waiting('a webhook came; the commit is being looked up')
  const since = secondsSince(status?.phases?.signalledAt, now)
  if (since !== undefined) return ok(`the last commit was noticed ${since} s ago`)
  if (spec.source.commit !== undefined) return ok('spec.source names the commit, so that no webhook is needed')
  return open('no commit was noticed by a webhook yet; without one, the platform asks GitHub from time to time')
}

const withoutGrant: ReadonlySet<string> = new Set([
  reasons.waitingForGrant,
  reasons.grantDenied,
  reasons.grantConflict,
  reasons.grantQuotaExceeded,
])

function tokenStep(sync: RemoteSync): Judgement {
  const resolved = conditionOf(sync, 'Resolved')
  if (resolved?.status === 'True') return ok('GitHub answers under the grant')
  if (resolved?.reason === reasons.unreachable)
    return wrong(`${resolved.reason}: ${resolved.message}`, 'the platform tries again')
  if (resolved?.reason === reasons.paced) return open(resolved.message)
  if (resolved !== undefined && withoutGrant.has(resolved.reason)) return open('waits for the grant')
  return resolved === undefined ? open('not reached yet') : ok('GitHub answers')
}

const commitCure =
  'correct spec.source or spec.repository of the RemoteSync, or push the branch; kubectl edit remotesync changes it'

/** Where the spec of the RemoteSync is right. */
const commitCures: Readonly<Record<string, string>> = {
  [reasons.approvalMissing]:
    'a person who may write to the repository looks at the commit and approves it: sekisho previews list shows what waits',
  [reasons.mergeConflict]: 'resolve the conflict on the branch of the pull request and push it',
  [reasons.pullRequestClosed]: 'follow a branch instead (kubectl edit remotesync), or delete the RemoteSync',
}

function commitStep(sync: RemoteSync): Judgement {
  const resolved = conditionOf(sync, 'Resolved')
  const judged = fromCondition(resolved, commitCures[resolved?.reason ?? ''] ?? commitCure)
  const { branch, pullRequest, commit } = sync.spec.source
  const unnamed = commit === undefined ? 'the default branch' : 'spec.source.commit'
  const source = branch ?? (pullRequest === undefined ? unnamed : `pull request ${pullRequest}`)
  return judged.mark === 'ok' ? ok(`${source} is at ${sync.status?.commit ?? '?'}`) : judged
}

function queueStep(sync: RemoteSync): Judgement | undefined {
  const built = conditionOf(sync, 'Built') ?? conditionOf(sync, 'Fetched')
  const queued = sync.status?.conditions?.find(
    ({ reason, message }) => reason === reasons.queued && !message.startsWith('waits for'),
  )
  if (queued !== undefined) return waiting(queued.message)
  return built?.status === 'True' || sync.status?.build !== undefined ? ok('a build slot was free') : undefined
}

/** A build slot is taken before the source is fetched. */
function afterQueue(condition: Condition | undefined, cure?: string): Judgement {
  return condition?.reason === reasons.queued ? open('waits for a build slot') : fromCondition(condition, cure)
}

const buildCure = 'correct the cause and push; to build the same commit again, change the RemoteSync'
const platformCure = 'a platform admin corrects the cause; then the build goes on by itself'

function buildStep(sync: RemoteSync): Judgement {
  const built = conditionOf(sync, 'Built')
  const isOfPlatform = classOf(remoteSyncs, built?.reason ?? '') === 'machine'
  const judged = afterQueue(built, isOfPlatform ? platformCure : buildCure)
  return judged.mark === 'ok' ? ok(`${sync.status?.imageCommit ?? ''} was built as ${sync.status?.image ?? 'an image'}`) : judged
}

function setStep(sync: RemoteSync, { application }: Facts): Judgement {
  const deployed = conditionOf(sync, 'Deployed')
  // One of several: the message names it.
  if (deployed?.reason === reasons.applicationNotFound)
    return fromCondition(deployed, 'create it: the RemoteSync sets its image (kubectl apply -f)')
  if (application === undefined)
    return wrong(
      `Application ${sync.spec.application} does not exist`,
      `create it: the RemoteSync sets its image (kubectl apply -f)`,
    )
  return fromCondition(deployed)
}

/** In the order in which a push passes them. */
export const sourceSteps: readonly Step[] = [
  { name: 'platform', judge: facts => observed(facts.remoteSync, 'RemoteSync', facts.now) },
  { name: 'installation', judge: installationStep },
  { name: 'webhook', judge: ofSync(deliveryStep) },
  { name: 'grant', judge: grantStep },
  { name: 'secret', judge: secretStep },
  { name: 'token', judge: ofSync(tokenStep) },
  { name: 'commit', judge: ofSync(commitStep) },
  { name: 'queue', judge: ofSync(queueStep) },
  { name: 'fetch', judge: ofSync(sync => afterQueue(conditionOf(sync, 'Fetched'))) },
  { name: 'build', judge: ofSync(buildStep) },
  { name: 'image set', judge: ofSync(setStep) },
]
