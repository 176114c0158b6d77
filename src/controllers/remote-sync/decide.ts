// What must hold before GitHub is asked for anything: a list of checks, each with its reason and the cure. Pure.
import { applicationsOf, runsIn } from '../../api/apps/remote-sync/applications.ts'
import { type RemoteSync, remoteSyncReasons as reasons } from '../../api/apps/remote-sync.ts'
import { type Check, firstRefusal } from '../../policy/check.ts'
import { type Claim, comesFirst } from '../kit/precedence.ts'
import { installationProblem } from '../kit/repository/installation-problem.ts'
import { excessOf } from './build-resources.ts'
import type { Facts } from './gather.ts'
import { type Halt, halt } from './halt.ts'

/** Stops builds outside a tenant: without a Tenant there is no build namespace and no limit. */
const tenantIsReady: Check<Facts, Halt> = ({ tenant, owner }) => {
  if (tenant) return undefined
  const message = `namespace ${owner.namespace} does not belong to a Tenant, or its Tenant is not ready: builds need a Tenant whose Ready is True`
  return halt('Resolved', reasons.notATenant, message)
}

/** Stops everything while a person wants it. */
const isNotSuspended: Check<Facts, Halt> = ({ remoteSync }) =>
  remoteSync.spec.suspend === true
    ? halt('Resolved', reasons.suspended, 'spec.suspend is true: set it to false to follow the repository again')
    : undefined

/** Without `otherApplications` the status does not say which Application it is about. */
function claimOf({ metadata, spec, status }: RemoteSync, name: string): Claim {
  const isSet = status?.applications?.includes(name) ?? name === spec.application
  return { metadata, holds: status?.image !== undefined && isSet }
}

/**
 * Stops two RemoteSyncs from overwriting each other's image. By age alone, an older one could take over an Application that
 * runs. Of two that hold one each of what both name, none goes on.
 */
const applicationIsFree: Check<Facts, Halt> = ({ remoteSync, rivals }) => {
  const active = rivals.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  for (const name of applicationsOf(remoteSync.spec)) {
    const first = active
      .filter(({ spec }) => runsIn(spec, name))
      .find(rival => comesFirst(claimOf(rival, name), claimOf(remoteSync, name), 'holder'))
    if (!first) continue
    const isOther = name !== remoteSync.spec.application
    const cure = isOther ? `remove it from spec.otherApplications, or delete one of the two` : 'delete one of the two'
    const message = `RemoteSync ${first.metadata.name} already keeps Application ${name}: ${cure}`
    return halt('Resolved', reasons.applicationTaken, message)
  }
  return undefined
}

/** Stops requests to GitHub through an installation that does not exist, is suspended or is not verified. */
const installationIsReady: Check<Facts, Halt> = ({ installation, remoteSync }) => {
  const message = installationProblem(installation, remoteSync.spec.installation)
  return message === undefined ? undefined : halt('Resolved', reasons.installationNotReady, message)
}

/** Stops a build that no attempt could start. */
const buildIsPossible: Check<Facts, Halt> = ({ remoteSync, builder, missingSecrets, offer }) => {
  const { build } = remoteSync.spec
  const [secret] = missingSecrets
  if (secret !== undefined) {
    const message = `spec.build.secrets: there is no AppSecret ${secret} in this namespace: create it by \`sekisho secrets set ${secret} <KEY> --no-attach\`, or remove it from the list`
    return halt('Resolved', reasons.buildSecretNotFound, message)
  }
  if (build.strategy === 'Buildpacks' && builder !== undefined && !offer.builders.includes(builder)) {
    const place = build.builder === undefined ? "the Tenant's spec.builder" : 'spec.build.builder'
    const names =
      offer.builders.length === 0 ? 'this platform has only its own: remove the field' : `use one of ${offer.builders.join(', ')}`
    return halt('Resolved', reasons.buildSettingRefused, `${place}: there is no builder ${builder}: ${names}`)
  }
  const tooMuch = excessOf(build.resources ?? {}, offer.most)
  if (tooMuch === undefined) return undefined
  return halt('Resolved', reasons.buildSettingRefused, `spec.build.resources.${tooMuch}`)
}

const checks: readonly Check<Facts, Halt>[] = [
  isNotSuspended,
  tenantIsReady,
  applicationIsFree,
  installationIsReady,
  buildIsPossible,
]

/** Undefined when the RemoteSync may go on. */
export function decide(facts: Facts): Halt | undefined {
  return firstRefusal(checks, facts)
}
