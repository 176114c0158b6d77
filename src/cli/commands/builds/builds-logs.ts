// `sekisho builds logs`: the log of a build, as it is kept or as it grows. It goes on where a connection broke, and with
// `--follow` its exit code says whether the build succeeded.
import { AppError, isAppError } from '../../../lib/errors.ts'
import { asObject, type JsonObject, textAt } from '../../../lib/json/json-value.ts'
import { buildFailedReason, type Terminal } from '../../output.ts'
import type { ClusterContext } from '../cluster-context.ts'
import { shortId } from './awaited-build.ts'
import { type Build, buildsPath } from './build-answers.ts'
import { createCheckout, gitIn } from './checkout.ts'
import { chosenBuild, syncOf } from './chosen-build.ts'
import { syncNamed } from './named-sync.ts'

type BuildsLogsOptions = {
  readonly follow?: boolean
  readonly commit?: string
  readonly tail?: string
  readonly output: 'text' | 'json'
}

const reconnectMilliseconds = 1000
/** A platform that is being replaced is back before. */
const maxFailures = 60

/** Prints the log. Rejects with the reason `BuildFailed` when the build was followed and did not succeed. */
export async function buildsLogs(context: ClusterContext, options: BuildsLogsOptions, given: string): Promise<void> {
  const argument = await syncNamed(context, given)
  const isFollowed = options.follow === true
  const checkout = createCheckout(gitIn(process.cwd()))
  const build = await chosenBuild(context, { argument, commit: options.commit, follow: isFollowed, checkout })
  const { name } = build
  if (name !== argument) context.terminal.say(`build ${name} of commit ${shortId(build.commit)}`)
  const path = `${buildsPath(context.cluster.namespace)}/${encodeURIComponent(name)}/log`
  const query = new URLSearchParams({ follow: String(isFollowed) })
  if (options.tail !== undefined) query.set('tailLines', options.tail)
  const reading = { path, query, output: options.output }
  if (isFollowed) return succeed(build, await follow(context, reading), () => newerCommit(context, build))
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
    for await (const values of (await api()).follow(path, query))
      for (const value of values) {
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

function show(event: JsonObject, output: 'text' | 'json', { result, say }: Terminal): void {
  const kind = textAt(event, 'kind')
  if (output === 'json') {
    if (kind !== 'waiting') result(JSON.stringify(event))
  } else if (kind === 'text') result((textAt(event, 'text') ?? '').replace(/\n$/, '').replaceAll('\t', '    '))
  else if (kind === 'left-out') say(`[${String(event['bytes'])} bytes of the log are left out here]`)
}

/** The commit that took the place of the build's while it ran. */
async function newerCommit(context: ClusterContext, { remoteSync, commit }: Build): Promise<string | undefined> {
  const now = (await syncOf(context, remoteSync))?.status?.commit
  return now === commit ? undefined : now
}

async function succeed(build: Build, ended: JsonObject, newer: () => Promise<string | undefined>): Promise<void> {
  const outcome = textAt(ended, 'outcome')
  if (outcome === 'Succeeded') return
  const replaced = outcome === 'Cancelled' ? await newer() : undefined
  const cause =
    replaced === undefined
      ? textAt(ended, 'cause')
      : `the newer commit ${shortId(replaced)} replaced ${shortId(build.commit)}; sekisho builds logs -f ${build.remoteSync} --commit ${shortId(replaced)} shows its build`
  const message = `build ${build.name} ended: ${outcome ?? 'unknown'}${cause === undefined ? '' : `: ${cause}`}`
  throw new AppError('conflict', message, { reason: buildFailedReason })
}
