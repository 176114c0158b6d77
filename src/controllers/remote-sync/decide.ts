// What must hold before GitHub is asked anything: a list of checks in order, each with its reason and the cure. Pure.
import type { RemoteSync } from '../../api/apps/remote-sync.ts'
import { findCondition } from '../../kube/object/conditions.ts'
import { type Claim, comesFirst } from '../precedence.ts'
import type { Facts } from './gather.ts'
import { reasons, type Stop, stop } from './progress.ts'

type Check = (facts: Facts) => Stop | undefined

const isTenant: Check = ({ tenant, remoteSync }) =>
  tenant?.status?.buildNamespace === undefined
    ? stop(
        'Resolved',
        reasons.notATenant,
        `namespace ${remoteSync.metadata.namespace} is no tenant's (or not ready): builds need a Tenant whose Ready is True`,
      )
    : undefined

function claimOf({ metadata, status }: RemoteSync): Claim {
  return { metadata, holds: status?.image !== undefined }
}

/** Two RemoteSyncs at one Application would undo each other. Age alone could take the Application from the one that runs. */
const applicationIsOurs: Check = ({ remoteSync, rivals }) => {
  const living = rivals.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  const former = living.find(rival => comesFirst(claimOf(rival), claimOf(remoteSync), 'holder'))
  if (!former) return undefined
  const message = `RemoteSync ${former.metadata.name} already keeps Application ${remoteSync.spec.application}: delete one of the two`
  return stop('Resolved', reasons.applicationTaken, message)
}

const installationIsReady: Check = ({ installation, remoteSync }) => {
  const { installation: name } = remoteSync.spec
  if (!installation) {
    const message = `spec.installation: there is no Installation ${name} here; see \`kubectl get installations\``
    return stop('Resolved', reasons.installationNotReady, message)
  }
  const ready = findCondition(installation.status?.conditions, 'Ready')
  if (ready?.status === 'True') return undefined
  return stop(
    'Resolved',
    reasons.installationNotReady,
    `Installation ${name} is not ready: ${ready?.message ?? 'it is being verified'}`,
  )
}

const checks: readonly Check[] = [isTenant, applicationIsOurs, installationIsReady]

export function decide(facts: Facts): Stop | undefined {
  for (const check of checks) {
    const stopped = check(facts)
    if (stopped) return stopped
  }
  return undefined
}
