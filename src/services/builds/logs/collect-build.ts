// Collects the log of one build from its first container to its last byte, then records how it ended. It begins where the
// database says that reading ended, so that it may be repeated after any failure.
import type { JsonValue } from '../../../lib/json/canonical-json.ts'
import { defined } from '../../../lib/json/defined.ts'
import { asObject, type JsonObject, objectAt, textAt } from '../../../lib/json/json-value.ts'
import type { SecretString } from '../../../lib/secret-string.ts'
import type { BuildLogs } from '../../../store/builds/build-logs.ts'
import type { BuildOutcome, BuildStep } from '../../../store/builds/build-record.ts'
import type { KeptLogs } from '../../../store/builds/kept-logs.ts'
import type { LoggedBuild } from '../builder.ts'
import { createCleanText } from './clean-text.ts'
import { createLogWriter, type LogWriterDeps } from './log-writer.ts'
import type { ReadPosition } from './position.ts'
import { podOf, readStep, type StepEnd, type StepLog, type StepRun } from './read-step.ts'

export type CollectDeps = Omit<LogWriterDeps, 'logs'> &
  Pick<StepRun, 'client' | 'clock' | 'random'> & {
    readonly logs: Pick<BuildLogs, 'begin' | 'append' | 'end'>
    readonly kept: Pick<KeptLogs, 'before'>
    /**
     * The values that must not be in the log of this build. Rejects with KubeError when they cannot be read: then nothing is
     * read.
     */
    readonly secretsOf: (build: LoggedBuild) => Promise<readonly SecretString[]>
    /** Told of each build whose end was recorded. */
    readonly ended?: (outcome: BuildOutcome, seconds: number) => void
    /** The sentence that a person needs, from the end of the log of the step that failed. */
    readonly causeOf: (failed: { readonly step: string; readonly log: string }) => string | undefined
  }

const pauseMilliseconds = 500
/** Of the log of a step, for its cause. */
const maxForCause = 65_536
const maxCause = 1000

/** What is stored with the text: the step that is read, and how far. */
type Place = { readonly step: string; readonly read: ReadPosition | undefined }

function placeOf(value: unknown): Place | undefined {
  const place = asObject(value)
  const step = textAt(place, 'step')
  const read = objectAt(place, 'read')
  return step === undefined ? undefined : { step, read: read && positionOf(read) }
}

function positionOf(read: JsonObject): ReadPosition | undefined {
  const newest = textAt(read, 'newest')
  const lines = Object.entries(objectAt(read, 'lines') ?? {})
  if (newest === undefined) return undefined
  return {
    newest,
    lines: Object.fromEntries(lines.flatMap(([second, count]) => (typeof count === 'number' ? [[second, count]] : []))),
  }
}

/**
 * Resolves when the whole log is kept and the end of the build recorded. `build` returns it as it is now, undefined when it is
 * gone. Rejects when something that it needs does not answer, and with the reason of the signal.
 */
export async function collectBuild(
  deps: CollectDeps,
  first: LoggedBuild,
  { build, signal }: Pick<StepRun, 'build' | 'signal'>,
): Promise<void> {
  const { logs, clock } = deps
  const { id, key, owner, commit, attempt, createdAt } = first
  const clean = createCleanText([...first.masked, ...(await deps.secretsOf(first)).map(secret => secret.reveal())])
  const open = await logs.begin({
    id,
    namespace: owner.namespace,
    buildNamespace: key.namespace,
    name: key.name,
    remoteSync: { name: owner.name, uid: owner.uid },
    commit,
    attempt,
    createdAt,
  })
  const writer = createLogWriter(deps, open)
  let steps = open.record.steps
  let place = placeOf(open.position)
  const flush = (): Promise<void> => writer.flush({ position: place === undefined ? {} : stored(place), steps })
  const run: Omit<StepRun, 'log'> = { ...deps, build, signal }

  for (const step of first.steps.slice(Math.max(0, first.steps.indexOf(place?.step ?? '')))) {
    const log: StepLog = {
      position: () => (place?.step === step ? place.read : undefined),
      add(lines, read) {
        if (place?.step !== step) writer.add(step, `===> ${step}\n`)
        if (lines.length > 0) writer.add(step, clean(`${lines.join('\n')}\n`))
        place = { step, read }
        steps = withStep(steps, { name: step, state: 'Running' })
      },
      full: writer.full,
      flush,
    }
    const end = await readStep({ ...run, log }, step)
    if (end.kind === 'never') break
    if (place?.step !== step && end.kind === 'ended') log.add([], undefined)
    steps = ended(steps, step, end)
    await flush()
    if (end.kind === 'gone') break
  }

  while (build() !== undefined && build()?.result === undefined) await clock.sleep(pauseMilliseconds, signal)
  const outcome = await outcomeOf(run, first)
  const failed = steps.find(({ state }) => state === 'Failed')?.name
  const cause = outcome === 'Failed' && failed !== undefined ? await causeIn(deps, id, failed) : undefined
  await logs.end(id, { outcome, ...defined({ cause }) })
  deps.ended?.(outcome, (clock.now().getTime() - createdAt.getTime()) / 1000)
}

function stored({ step, read }: Place): JsonValue {
  return { step, ...(read === undefined ? {} : { read: { newest: read.newest, lines: { ...read.lines } } }) }
}

function withStep(steps: readonly BuildStep[], step: BuildStep): readonly BuildStep[] {
  return [...steps.filter(({ name }) => name !== step.name), step]
}

function ended(steps: readonly BuildStep[], name: string, end: StepEnd): readonly BuildStep[] {
  if (end.kind === 'ended') return withStep(steps, { name, state: end.exitCode === 0 ? 'Succeeded' : 'Failed' })
  return steps.map(step => (step.name === name ? { name, state: 'Unknown' } : step))
}

/** A build that is gone before it ended was cancelled. */
async function outcomeOf({ client, build }: Pick<StepRun, 'client' | 'build'>, first: LoggedBuild): Promise<BuildOutcome> {
  const result = build()?.result
  if (result === undefined || result === 'Cancelled') return 'Cancelled'
  if (result === 'Succeeded') return 'Succeeded'
  const pod = await podOf({ client }, build() ?? first)
  return pod?.status?.reason === 'DeadlineExceeded' ? 'TimedOut' : 'Failed'
}

async function causeIn({ kept, causeOf }: CollectDeps, id: string, step: string): Promise<string | undefined> {
  const parts: Buffer[] = []
  let bytes = 0
  // The newest piece first; steps after the failed one have no text.
  for (const piece of await kept.before(id, Number.MAX_SAFE_INTEGER)) {
    if (piece.step !== step || bytes >= maxForCause) break
    parts.unshift(piece.text)
    bytes += piece.text.length
  }
  return causeOf({ step, log: Buffer.concat(parts).toString('utf8') })?.slice(0, maxCause)
}
