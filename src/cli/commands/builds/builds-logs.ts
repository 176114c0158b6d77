// `sekisho builds logs`: the log of a build, as it is kept or as it grows. It goes on where a connection broke, and with
// `--follow` its exit code says whether the build succeeded.
import { remoteSync as remoteSyncs } from '../../../api/apps/remote-sync.ts'
import { isKubeError } from '../../../kube/client/errors.ts'
import { AppError, isAppError } from '../../../lib/errors.ts'
import { asObject, type JsonObject, textAt } from '../../../lib/json/json-value.ts'
import { buildFailedReason, type Terminal } from '../../output.ts'
import type { ClusterContext } from '../cluster-context.ts'
import { type Awaited, awaitedBuild } from './awaited-build.ts'
import { type Build, buildOf, buildsPath } from './build-answers.ts'

type BuildsLogsOptions = { readonly follow?: boolean; readonly tail?: string; readonly output: 'text' | 'json' }

const reconnectMilliseconds = 1000
/** Far below what the platform allows. */
const lookMilliseconds = 2000
/** A platform that is being replaced is back before. */
const maxFailures = 60

/** Prints the log. Rejects with the reason `BuildFailed` when the build was followed and did not succeed. */
export async function buildsLogs(context: ClusterContext, options: BuildsLogsOptions, argument: string): Promise<void> {
  const { name } = await chosenBuild(context, options.follow === true, argument)
  const path = `${buildsPath(context.cluster.namespace)}/${encodeURIComponent(name)}/log`
  const query = new URLSearchParams({ follow: String(options.follow === true) })
  if (options.tail !== undefined) query.set('tailLines', options.tail)
  const reading = { path, query, output: options.output }
  if (options.follow === true) return succeed(name, await follow(context, reading))
  const { error } = await readOnce(context, reading)
  if (error !== undefined) throw error
}

type Reading = { readonly path: string; readonly query: URLSearchParams; readonly output: 'text' | 'json' }

/** Resolves to how the build ended. */
async function follow(context: ClusterContext, reading: Reading): Promise<JsonObject> {
  for (let failures = 0; ; ) {
    const { ended, error, more } = await readOnce(context, reading)
    if (ended !== undefined) return ended
    if (error !== undefined) {
      failures = more ? 1 : failures + 1
      if (!isAppError(error, 'unavailable') || failures > maxFailures) throw error
      if (failures === 1) context.terminal.say('the connection broke: trying to go on')
    }
    await context.clock.sleep(reconnectMilliseconds)
  }
}

type End = {
  /** How the build ended; undefined when the connection ended before. */
  readonly ended?: JsonObject
  readonly error?: unknown
  /** Whether anything was read. */
  readonly more: boolean
}

/**
 * One connection; `query` is moved on to where it ended. Each has a token of its own: one may expire while a long build is
 * followed.
 */
async function readOnce({ api, terminal }: ClusterContext, { path, query, output }: Reading): Promise<End> {
  let more = false
  try {
    for await (const value of (await api()).follow(path, query)) {
      const event = asObject(value) ?? {}
      show(event, output, terminal)
      if (textAt(event, 'kind') === 'ended') return { ended: event, more: true }
      const { end } = event
      if (typeof end !== 'number') continue
      query.delete('tailLines')
      query.set('from', String(end))
      more = true
    }
    return { more }
  } catch (error) {
    return { error, more }
  }
}

/** The build that is meant. With `--follow` one that is ahead is awaited. */
async function chosenBuild(context: ClusterContext, isFollowed: boolean, argument: string): Promise<Build> {
  for (let said: string | undefined; ; ) {
    const { build, error } = await newestBuild(context, argument)
    if (build !== undefined && (!isFollowed || goesOn(build, argument))) return build
    const awaited = await awaitedOf(context, argument, build)
    if (awaited?.kind !== 'awaited' || !isFollowed) return build ?? noBuild(argument, awaited, error)
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
async function awaitedOf({ cluster }: ClusterContext, name: string, newest: Build | undefined): Promise<Awaited | undefined> {
  try {
    const sync = await cluster.client.get(remoteSyncs, { namespace: cluster.namespace, name })
    return sync && awaitedBuild(sync, newest)
  } catch (error) {
    if (isKubeError(error)) return undefined
    throw error
  }
}

function show(event: JsonObject, output: 'text' | 'json', { result, say }: Terminal): void {
  const kind = textAt(event, 'kind')
  if (output === 'json') {
    if (kind !== 'waiting') result(JSON.stringify(event))
  } else if (kind === 'text') result((textAt(event, 'text') ?? '').replace(/\n$/, '').replaceAll('\t', '    '))
  else if (kind === 'left-out') say(`[${String(event['bytes'])} bytes of the log are left out here]`)
}

function succeed(name: string, ended: JsonObject): void {
  const outcome = textAt(ended, 'outcome')
  if (outcome === 'Succeeded') return
  const cause = textAt(ended, 'cause')
  const message = `build ${name} ended: ${outcome ?? 'unknown'}${cause === undefined ? '' : `: ${cause}`}`
  throw new AppError('conflict', message, { reason: buildFailedReason })
}
