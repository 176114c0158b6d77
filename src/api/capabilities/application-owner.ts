// What it means for a kind to own Applications: each of its objects runs an Application for each of something. For a kind that
// declares `ownsApplications` in its definition, admission keeps people from changing what it owns, lists of Applications leave
// that out, the quota of the tenant counts its objects, and what it owns may act for the person of its `spec.requestedBy`. Data
// only; `registry.ts` lists the kinds.
import { defineReasons } from '../reasons/reason.ts'

/** How such a kind is spoken of. */
export type OwnsApplications = {
  /** What one owned Application is called in messages, such as `preview`; its plural ends with `s`. */
  readonly noun: string
  /** The field of the owner that says what its Applications are, such as `spec.template`. */
  readonly setBy: string
}

/** What becomes of an owned Application. */
export const ownedStates = [
  'Waiting',
  'WaitingForApproval',
  'Building',
  'Running',
  'Failed',
  'Conflict',
  'Paused',
  'Removing',
] as const
export type OwnedState = (typeof ownedStates)[number]

/** Why an owned Application is not made, or does not run what it should: for the definition of each such kind. */
export function ownedReasonDefinitions({ noun }: Pick<OwnsApplications, 'noun'>) {
  return defineReasons({
    ready: { Running: `The ${noun} runs what it should.` },
    progress: {
      Removing: `A ${noun} that is not to exist any more is being removed.`,
      Preparing: `What the ${noun} consists of is being created.`,
      NewCommit: 'There is a newer commit than the one that is built or runs.',
    },
    person: {
      NameConflict: `An Application, a RemoteSync, a ServiceInstance or a Bucket with the name of a ${noun} exists and does not belong to this object. Delete or rename it. The message names it.`,
      QuotaExceeded:
        'The tenant may not have more Applications, RemoteSyncs, ServiceInstances or Buckets. Delete what is not used, lower what this object asks for, or ask a platform admin.',
    },
    failed: {
      RefusedByCluster: `The API server refused the Application, the RemoteSync or a service of a ${noun}. The message names the cause.`,
    },
  })
}

/** The names are the same in all such kinds. */
export const ownedReasons = ownedReasonDefinitions({ noun: 'owned Application' }).names
