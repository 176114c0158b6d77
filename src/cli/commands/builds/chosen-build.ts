// Which build `sekisho builds logs` shows: one by its name, the newest of a RemoteSync, or that of a commit. With `--follow` it
// waits for a build that is ahead, and for the commit that was just pushed from the checkout in which it runs.
import type { RemoteSync } from '../../../api/apps/remote-sync.ts'
import { isKubeError } from '../../../kube/client/errors.ts'
import { elapsed } from '../../../lib/clock.ts'
import { AppError, isAppError } from '../../../lib/errors.ts'
import { textAt } from '../../../lib/json/json-value.ts'
import { remoteSyncs } from '../../kubernetes/kinds.ts'
import type { ClusterContext } from '../cluster-context.ts'
import { type Awaited, awaitedBuild, awaitedCommit, shortId } from './awaited-build.ts'
import { type Build, buildListOf, buildOf, buildsPath } from './build-answers.ts'
import type { Checkout } from './checkout.ts'

export type Choice = {
  readonly argument: string
  /** The beginning of a commit's id, or all of it. */
  readonly commit: string | undefined
  readonly follow: boolean
  readonly checkout: Checkout
}

/** Far below what the platform allows. */
const lookMilliseconds = 2000
/** GitHub delivers most webhooks within seconds. */
const webhookMilliseconds = 30_000
const maxWaitMilliseconds = 10 * 60_000
const maxBuilds = '200'

const lost =
  'GitHub’s webhook may be late or lost (the settings of the GitHub App list its deliveries), and the platform asks by itself only from time to time'

/**
 * Rejects with `not_found` for a name that does not exist, `conflict` with the state of the RemoteSync when no build is there or
 * will come, and `unavailable` when the platform does not hear of the commit in time.
 */
export async function chosenBuild(context: ClusterContext, choice: Choice): Promise<Build> {
  const { argument, commit, follow } = choice
  if (commit !== undefined) return buildOfCommit(context, choice, commit)
  const pushed = follow ? await pushedFromHere(context, choice) : undefined
  if (pushed === undefined) return newestOrAhead(context, choice)
  context.terminal.say(`${argument}: ${shortId(pushed)} was pushed from here: waiting for its build`)
  return buildOfCommit(context, choice, pushed)
}

/** The commit that was pushed from this checkout and that nothing is shown of yet. */
async function pushedFromHere(context: ClusterContext, { argument, checkout }: Choice): Promise<string | undefined> {
  const sync = await syncOf(context, argument)
  if (sync === undefined || sync.spec.source.commit !== undefined || sync.spec.source.pullRequest !== undefined) return undefined
  const pushed = await checkout.pushed(sync.status?.repository?.name ?? sync.spec.repository, sync.spec.source.branch)
  if (pushed?.unpushed !== undefined)
    context.terminal.say(`${shortId(pushed.unpushed)}, which is checked out here, is not pushed to ${pushed.branch} yet`)
  const { build } = await newestBuild(context, argument)
  const known = build?.commit ?? sync.status?.commit
  if (pushed === undefined || pushed.commit === known || pushed.commit === sync.status?.commit) return undefined
  return known === undefined || (await checkout.isLater(pushed.commit, known)) ? pushed.commit : undefined
}

async function buildOfCommit(context: ClusterContext, choice: Choice, commit: string): Promise<Build> {
  const { argument, follow } = choice
  const { clock, terminal } = context
  const began = elapsed(clock)
  for (let said: string | undefined, warned = false; ; ) {
    const sync = await requireSync(context, argument)
    const found = awaitedCommit(sync, await buildsOf(context, argument), commit)
    if (found.kind === 'build') return found.build
    if (found.kind === 'none') return withoutBuild(context, argument, found.message, found.isWrong)
    if (!follow)
      throw new AppError('not_found', `there is no build of commit ${shortId(commit)}: ${found.message}; -f waits for it`)
    const isHeardOf = sync.status?.commit?.startsWith(commit) === true
    const waited = elapsed(clock) - began
    if (!isHeardOf) await refuseInVain(choice, commit, { now: sync.status?.commit, waited, message: found.message })
    if (found.message !== said) terminal.say(`${argument} waits: ${found.message}`)
    said = found.message
    if (!warned && waited > webhookMilliseconds && !isHeardOf) {
      warned = true
      terminal.say(
        `${argument}: nothing was heard of commit ${shortId(commit)} for 30 s: was it pushed to the branch that is built? ${lost}`,
      )
    }
    await clock.sleep(lookMilliseconds)
  }
}

async function requireSync(context: ClusterContext, name: string): Promise<RemoteSync> {
  const sync = await syncOf(context, name)
  if (sync !== undefined) return sync
  throw new AppError('not_found', `${name} is not a RemoteSync that you may read: --commit needs one, not a build`)
}

type Waiting = { readonly now: string | undefined; readonly waited: number; readonly message: string }

/** Rejects when the platform will not hear of the commit, or has not for long. A build that has its place may wait for longer. */
async function refuseInVain({ checkout }: Choice, commit: string, { now, waited, message }: Waiting): Promise<void> {
  if (now !== undefined && (await checkout.isLater(now, commit)))
    throw new AppError('conflict', `commit ${shortId(commit)} gets no build: the newer commit ${shortId(now)} replaced it`)
  if (waited > maxWaitMilliseconds)
    throw new AppError('unavailable', `no build of commit ${shortId(commit)} within 10 minutes: ${message}; ${lost}`)
}

/** A commit whose files need no build, or whose image was taken from a preview, is served by the build before. */
async function withoutBuild(context: ClusterContext, argument: string, message: string, isWrong: boolean): Promise<Build> {
  const { build } = isWrong ? {} : await newestBuild(context, argument)
  if (build === undefined) throw new AppError('conflict', `the commit has no build: ${message}`)
  context.terminal.say(`the commit has no build of its own (${message}): this is the build before`)
  return build
}

async function newestOrAhead(context: ClusterContext, { argument, follow }: Choice): Promise<Build> {
  for (let said: string | undefined; ; ) {
    const { build, error } = await newestBuild(context, argument)
    if (build !== undefined && (!follow || goesOn(build, argument))) return build
    const sync = await syncOf(context, argument)
    const awaited = sync && awaitedBuild(sync, build)
    if (awaited?.kind !== 'awaited' || !follow) return build ?? noBuild(argument, awaited, error)
    if (awaited.message !== said) context.terminal.say(`${argument} waits for its build: ${awaited.message}`)
    said = awaited.message
    await context.clock.sleep(lookMilliseconds)
  }
}

/** Also of a build that was named itself: no other one is meant. */
function goesOn(build: Build, argument: string): boolean {
  return build.remoteSync !== argument || textAt(build, 'outcome') === undefined
}

function noBuild(name: string, awaited: Awaited | undefined, error: unknown): never {
  if (awaited?.message === undefined) throw error
  throw new AppError('conflict', `${name} has no build yet: ${awaited.message}`)
}

async function buildsOf({ api, cluster }: ClusterContext, remoteSync: string): Promise<readonly Build[]> {
  const query = new URLSearchParams({ remoteSync, limit: maxBuilds })
  return buildListOf(await (await api()).json(buildsPath(cluster.namespace), query)).builds
}

/** The build of that name, or the newest of the RemoteSync of that name; the error when there is none. */
async function newestBuild({ api, cluster }: ClusterContext, name: string): Promise<{ build?: Build; error?: unknown }> {
  try {
    return { build: buildOf(await (await api()).json(`${buildsPath(cluster.namespace)}/${encodeURIComponent(name)}`)) }
  } catch (error) {
    if (!isAppError(error, 'not_found')) throw error
    return { error }
  }
}

/** Undefined when there is no RemoteSync of that name, or it cannot be read: then the platform's own answer counts. */
export async function syncOf({ cluster }: ClusterContext, name: string): Promise<RemoteSync | undefined> {
  try {
    return await cluster.client.get(remoteSyncs, { namespace: cluster.namespace, name })
  } catch (error) {
    if (isKubeError(error)) return undefined
    throw error
  }
}
