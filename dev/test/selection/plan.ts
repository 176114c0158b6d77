// What a run of `make test` plays: all lanes with the costly cases in the form that changes ask for, and with CHANGED=1 of
// those only what the changes since its base can affect. Reads git, the records and the files of the checkout; decides with
// what stands beside it.
import { globSync } from 'node:fs'
import type { Environment } from '../../../src/lib/config.ts'
import { parts } from '../long/parts.ts'
import type { PartRecords } from '../long/records.ts'
import { controlPlane, first, type Lane, type PlatformLanes, programs, type Stage } from '../stages.ts'
import { createImports, type Imports } from '../vitest/imports.ts'
import { testProjects } from '../vitest/projects.ts'
import { type Affected, affectedBy, type TestFiles } from './affected.ts'
import { decideCases, playsEveryCrashPoint, type Since } from './decide-cases.ts'
import { gitOf } from './git-changes.ts'
import { onlyAffected, withoutStages } from './narrow.ts'
import { proofs } from './proofs.ts'
import { sinceForChanged, sinceParts, sinceWholeRun } from './since.ts'
import { createUsedFiles } from './used-files.ts'

export type Plan = {
  readonly first: Lane
  readonly programs: Lane
  readonly controlPlane: Lane
  readonly platform: PlatformLanes
  /** For every stage. */
  readonly environment: Environment
  /** Whether cases are left out, or crash points of some scenarios: nothing may use their rights then. */
  readonly leavesOut: boolean
  /** Whether only what changes can affect is played: then it is no whole `make test`. */
  readonly isNarrowed: boolean
  /** Why the stage about the rights that all suites used is left out. */
  readonly withoutRights: string | undefined
  /** What is left out or due, and why. */
  readonly lines: readonly string[]
}

export type PlanRequest = {
  readonly repository: string
  readonly environment: Environment
  readonly records: PartRecords
  readonly platform: PlatformLanes
  readonly onlyChanged: boolean
  /** Files are played that passed with all that they use, too. */
  readonly all?: boolean
}

/** Never rejects because of git. */
export async function planRun({
  repository,
  environment,
  records,
  platform,
  onlyChanged,
  all = false,
}: PlanRequest): Promise<Plan> {
  const facts = { git: gitOf(repository), records, environment }
  const since = onlyChanged ? await sinceForChanged(facts) : undefined
  const names = parts.map(({ name }) => name)
  const imports = createImports(repository)
  const bases = since === undefined ? await sinceParts(names, facts) : { long: () => since, played: () => since }
  const tests = testFiles(repository)
  const cases = decideCases(bases, createUsedFiles(repository, tests, imports))
  const without = (lane: Lane): Lane => withoutStages(lane, cases.leftOutStages)
  const whole: Plan = {
    first,
    programs,
    controlPlane: without(controlPlane),
    platform: { beside: without(platform.beside), alone: without(platform.alone), otherForm: without(platform.otherForm) },
    environment: {
      SEKISHO_LONG: environment['SEKISHO_LONG'] || cases.long.join(','),
      SEKISHO_LEFT_OUT: cases.leftOutFiles.join(','),
    },
    leavesOut: cases.leftOutFiles.length + cases.leftOutStages.length > 0 || !playsEveryCrashPoint(cases),
    isNarrowed: since !== undefined,
    withoutRights: undefined,
    lines: cases.lines,
  }
  if (since !== undefined) return narrowed(whole, withoutFiles(affectedSince(since, tests, imports), cases.leftOutFiles), since)
  if (all) return whole
  const sinceWhole = await sinceWholeRun(facts)
  const affected = withPlayed(affectedSince(sinceWhole, tests, imports), tests)
  return withoutSettled(whole, withoutFiles(affected, cases.leftOutFiles))
}

function affectedSince(since: Since, tests: TestFiles, imports: Imports): Affected {
  if (since.base === undefined) return { everything: since.why }
  if ('unknown' in since.changes) return { everything: since.changes.unknown }
  return affectedBy(since.changes, tests, imports)
}

/** Vitest fails when it is asked for files of which all are left out. */
function withoutFiles(affected: Affected, leftOut: readonly string[]): Affected {
  if (affected.everything !== undefined) return affected
  const files = Object.entries(affected.files).map(([project, all]) => [project, all.filter(file => !leftOut.includes(file))])
  return { ...affected, files: Object.fromEntries(files) }
}

/** A list says what costly files prove, imported or not; pure functions are tested in a second of each run. */
function withPlayed(affected: Affected, tests: TestFiles): Affected {
  if (affected.everything !== undefined) return affected
  const files = Object.entries(tests).map(([project, all]) => {
    const played = new Set([...(affected.files[project] ?? []), ...costlyFiles])
    return [project, project === 'pure' ? all : all.filter(file => played.has(file))]
  })
  return { ...affected, files: Object.fromEntries(files) }
}

const costlyFiles = proofs.flatMap(({ file }) => file ?? [])

/**
 * Without the files that passed, as they are, with all that they use, of those that start something. Crash points have lists of
 * their own (proofs.ts), and what runs on pods is one platform.
 */
function withoutSettled(whole: Plan, affected: Affected): Plan {
  if (affected.everything !== undefined)
    return { ...whole, lines: [`every file of tests is played: ${affected.everything}`, ...whole.lines] }
  const playsAll = ({ projects }: Stage): boolean => projects === undefined || projects.includes('sweep')
  const settle = (lane: Lane) =>
    lane.map(stage => (playsAll(stage) ? { lane: [stage], lines: [] } : onlyAffected([stage], affected, () => undefined)))
  const [small, parts] = [settle(whole.first), settle(whole.controlPlane)]
  return {
    ...whole,
    first: small.flatMap(({ lane }) => lane),
    controlPlane: parts.flatMap(({ lane }) => lane),
    leavesOut: true,
    lines: [...[...small, ...parts].flatMap(({ lines }) => lines), ...whole.lines],
  }
}

function testFiles(repository: string): TestFiles {
  const files = (pattern: string): readonly string[] => globSync(pattern, { cwd: repository }).toSorted()
  const replicas = 'test/e2e/replicas.test.ts'
  return {
    ...testProjects(repository),
    sweep: files('test/sweep/**/*.test.ts'),
    e2e: files('test/e2e/**/*.test.ts').filter(file => file !== replicas),
    replicas: [replicas],
  }
}

function narrowed(all: Plan, affected: Affected, since: Since): Plan {
  const base = `changes since ${since.base ?? 'the beginning'}`
  if (affected.everything !== undefined)
    return { ...all, lines: [`everything is played: ${affected.everything} (${base})`, ...all.lines] }
  const { platform, files } = affected
  const needsPods = platform !== undefined || (files['e2e'] ?? []).length + (files['replicas'] ?? []).length > 0
  const needsServer = ['integration', 'faults', 'sweep'].some(project => (files[project] ?? []).length > 0)
  const whole: Affected = platform === undefined ? affected : { everything: platform }
  const notOnPods = 'nothing that runs on pods changed'
  const lanes = {
    first: onlyAffected(all.first, affected, () => undefined),
    programs: onlyAffected(all.programs, affected, () => (needsPods || needsServer ? undefined : 'no test needs a cluster')),
    controlPlane: onlyAffected(all.controlPlane, affected, () => undefined),
    // The platform itself is started for single end-to-end tests, too.
    beside: onlyAffected(all.platform.beside, whole, ({ isNeeded }) => (isNeeded && needsPods ? undefined : notOnPods)),
    alone: onlyAffected(all.platform.alone, whole, () => notOnPods),
    otherForm: onlyAffected(all.platform.otherForm, whole, () => notOnPods),
  }
  return {
    ...all,
    first: lanes.first.lane,
    programs: lanes.programs.lane,
    controlPlane: lanes.controlPlane.lane,
    platform: { beside: lanes.beside.lane, alone: lanes.alone.lane, otherForm: lanes.otherForm.lane },
    withoutRights: 'only some tests were played',
    lines: [
      `CHANGED=1: ${base}`,
      ...(platform === undefined ? [] : [`everything on pods is played: ${platform} changed`]),
      ...Object.values(lanes).flatMap(({ lines }) => lines),
      ...all.lines,
    ],
  }
}
