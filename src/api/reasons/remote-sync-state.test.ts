// What each reason of a RemoteSync means for a commit, once it is known and before. A reason without a row does not compile.
import { expect, test } from 'vitest'
import type { RemoteSync, remoteSyncReasons } from '../apps/remote-sync.ts'
import { stateOfUnready, type UnreadyState } from './remote-sync-state.ts'

type Name = (typeof remoteSyncReasons)[keyof typeof remoteSyncReasons]
type Row = readonly [once: UnreadyState, before: UnreadyState]

const [going, waits, failed, blocked, paused] = [
  ['Building', 'Waiting'],
  ['Waiting', 'Waiting'],
  ['Failed', 'Failed'],
  ['Failed', 'Waiting'],
  ['Paused', 'Paused'],
] as const satisfies readonly Row[]

const rows: Readonly<Record<Name, Row>> = {
  Done: going,
  Deployed: going,
  Promoted: going,
  PathsUnchanged: going,
  CommitSkipped: going,
  WaitingForGrant: going,
  GrantDenied: blocked,
  GrantConflict: blocked,
  GrantQuotaExceeded: blocked,
  RepositoryReplaced: blocked,
  InstallationNotReady: blocked,
  RepositoryNotFound: blocked,
  BranchNotFound: blocked,
  PullRequestNotFound: failed,
  PullRequestClosed: blocked,
  ApprovalMissing: ['WaitingForApproval', 'WaitingForApproval'],
  MergeConflict: ['Conflict', 'Conflict'],
  MergePending: going,
  CommitNotInRepository: failed,
  CommitNotFound: failed,
  SourceTooLarge: failed,
  SourceMalformed: failed,
  SourceIncomplete: failed,
  FetchFailed: waits,
  Queued: going,
  Fetching: going,
  Building: going,
  BuildFailed: failed,
  BuildTimedOut: failed,
  BuiltFromWrongCommit: failed,
  CommitNotProven: failed,
  RegistryUnreachable: waits,
  Suspended: paused,
  NotATenantNamespace: blocked,
  BuilderNotReady: waits,
  RightMissing: waits,
  BuildSettingRefused: failed,
  BuildSecretNotFound: blocked,
  ApplicationNotFound: blocked,
  ApplicationTaken: blocked,
  ApplicationFollowsTag: blocked,
  ApplicationNotReady: failed,
  Pinned: paused,
  RollingOut: going,
  GitHubUnreachable: waits,
  PacedByPlatform: waits,
}

const sync = (resolved: 'True' | 'False') =>
  ({ status: { conditions: [{ type: 'Resolved', status: resolved }] } }) as unknown as RemoteSync

test.each(Object.entries(rows))('%s', (reason, [once, before]) => {
  expect(stateOfUnready(sync('True'), { reason })).toBe(once)
  expect(stateOfUnready(sync('False'), { reason })).toBe(before)
})

test('a reason of another version is a wait', () => {
  expect(stateOfUnready(sync('True'), { reason: 'Unheard' })).toBe('Waiting')
})
