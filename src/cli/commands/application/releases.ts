// `sekisho releases` and `sekisho rollback`: what an Application ran, and running one of it again.

import type { Application } from '../../../api/apps/application.ts'
import type { Release } from '../../../api/apps/release.ts'
import { releaseAuthor } from '../../../api/apps/release-author.ts'
import { findCondition } from '../../../kube/object/conditions.ts'
import { AppError } from '../../../lib/errors.ts'
import { type Cluster, found } from '../../kubernetes/cluster.ts'
import { applications, releases as releaseKind } from '../../kubernetes/kinds.ts'
import { age, type ClusterFormat, present, table } from '../../output.ts'
import type { ClusterContext } from '../cluster-context.ts'
import { changeApplication } from './change.ts'

type Options = { readonly output: ClusterFormat }
type RollbackOptions = Options & { readonly resume?: boolean; readonly dryRun?: boolean }

/** Newest first. */
async function releasesOf({ client, namespace }: Cluster, name: string): Promise<readonly Release[]> {
  const all = await client.list(releaseKind, { namespace, fieldSelector: `spec.application.name=${name}` })
  return [...all].sort((a, b) => b.spec.number - a.spec.number)
}

function outcomeOf({ status }: Release): string {
  return findCondition(status?.conditions, 'Ready')?.reason ?? 'Pending'
}

const rolledOut = 'RolledOut'

/** What a person calls the state of a release. */
export function stateOf(release: Release, { spec, status }: Application): string {
  const { number } = release.spec
  const pinned = spec.pinnedRelease === number ? ', pinned' : ''
  if (status?.release === number) return `running${pinned}`
  return `${outcomeOf(release)}${pinned}`
}

/** Prints the releases that are kept. */
export async function releases(context: ClusterContext, options: Options, name: string): Promise<void> {
  const { cluster, clock, terminal } = context
  const application = await found(cluster, applications, name)
  const all = await releasesOf(cluster, name)
  const value = all.map(release => ({
    release: release.spec.number,
    state: stateOf(release, application),
    commit: release.spec.commit,
    image: release.spec.image,
    reason: release.spec.reason,
    by: release.spec.by,
    createdAt: release.metadata.creationTimestamp,
  }))
  const rows = value.map(one => [
    `v${one.release}`,
    one.state,
    one.commit?.slice(0, 8) ?? '-',
    one.reason,
    releaseAuthor(one),
    age(one.createdAt, clock.now()),
  ])
  const text = (): string =>
    rows.length === 0 ? `${name} has no release yet` : table(['RELEASE', 'STATE', 'COMMIT', 'CHANGE', 'BY', 'AGE'], rows)
  await present(terminal, options.output, { value, text })
}

/**
 * The release to run again: the given one, else the newest that was rolled out before the one that runs. Throws `not_found`,
 * with the numbers that can be used.
 */
export function rollbackTarget(application: Application, all: readonly Release[], asked: number | undefined): number {
  const usable = all.filter(release => outcomeOf(release) === rolledOut).map(({ spec }) => spec.number)
  const running = application.status?.release
  const target = asked ?? usable.find(number => running === undefined || number < running)
  if (target !== undefined && usable.includes(target)) return target
  const choice =
    usable.length === 0 ? 'no release has been rolled out yet' : `these can: ${usable.map(number => `v${number}`).join(', ')}`
  throw new AppError(
    'not_found',
    target === undefined
      ? `no release before the one that runs can run again; ${choice}`
      : `release v${target} does not exist or was never rolled out; ${choice}`,
  )
}

/** Pins a release, or removes the pin. */
export async function rollback(context: ClusterContext, options: RollbackOptions, name: string, number?: number): Promise<void> {
  const { cluster, terminal } = context
  if (options.resume === true) return resume(context, options, name)
  const application = await found(cluster, applications, name)
  const target = rollbackTarget(application, await releasesOf(cluster, name), number)
  await changeApplication(cluster, name, options.dryRun, ({ spec }) =>
    spec.pinnedRelease === target ? undefined : { pinnedRelease: target },
  )
  const value = { application: name, from: application.status?.release, pinnedRelease: target, dryRun: options.dryRun === true }
  const text = (): string =>
    options.dryRun === true
      ? `${name} would run release v${target} (dry run)`
      : `${name} goes back to release v${target} and stays there: ${waits(application)} until sekisho rollback ${name} --resume`
  await present(terminal, options.output, { value, text })
}

/** What a pin keeps from being rolled out. */
function waits({ spec }: Application): string {
  return spec.followTag === true ? 'its tag is not followed' : 'new commits are built, but not rolled out,'
}

async function resume({ cluster, terminal }: ClusterContext, options: RollbackOptions, name: string): Promise<void> {
  const { before } = await changeApplication(cluster, name, options.dryRun, ({ spec }) =>
    spec.pinnedRelease === undefined ? undefined : { pinnedRelease: null },
  )
  const pinned = before.spec.pinnedRelease
  const value = { application: name, from: pinned, pinnedRelease: null, dryRun: options.dryRun === true }
  const text = (): string => {
    if (pinned === undefined) return `${name} is not pinned to a release`
    return options.dryRun === true
      ? `${name} would run its newest release instead of v${pinned} (dry run)`
      : `${name} runs its newest release again instead of v${pinned}`
  }
  await present(terminal, options.output, { value, text })
}
