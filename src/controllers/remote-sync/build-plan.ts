// Which build a commit needs: its deterministic name, its attempt, and whether it was built or failed already. Pure.
// The name follows from the RemoteSync, the commit, what the build is given and the attempt: a crash between making a Build and writing
// the status finds the same Build again, and a changed build setting makes another one.
import { createHash } from 'node:crypto'
import type { RemoteSync } from '../../api/apps/remote-sync.ts'
import { canonicalJson } from '../../lib/json/canonical-json.ts'
import type { RemoteSyncStatus } from './progress.ts'

export type BuildPlan = {
  readonly name: string
  readonly commit: string
  readonly attempt: number
  readonly state: 'wanted' | 'built' | 'failed'
}

const longestPrefix = 30

export function buildName(remoteSync: RemoteSync, commit: string, attempt: number): string {
  const { build, subPath } = remoteSync.spec
  const inputs = {
    uid: remoteSync.metadata.uid ?? '',
    commit,
    attempt,
    strategy: build.strategy,
    subPath: subPath ?? '',
    env: build.env ?? [],
  }
  const hash = createHash('sha256').update(canonicalJson(inputs)).digest('hex').slice(0, 12)
  const prefix = remoteSync.metadata.name.slice(0, longestPrefix).replaceAll('.', '-').replace(/-+$/, '')
  return `${prefix}-${hash}`
}

/** `retry`: something changed since the failure (a webhook, the spec), so the same commit gets another attempt. */
export function planBuild(remoteSync: RemoteSync, status: RemoteSyncStatus, commit: string, retry: boolean): BuildPlan {
  const before = status.build?.commit === commit ? status.build : undefined
  const failed = status.failedCommit === commit && before !== undefined
  const attempt = (before?.attempt ?? 1) + (failed && retry ? 1 : 0)
  const name = buildName(remoteSync, commit, attempt)
  const state = status.image !== undefined && status.imageBuild === name ? 'built' : failed && !retry ? 'failed' : 'wanted'
  return { name, commit, attempt, state }
}
