// What `make test` plays of the costly cases: of each its long form, its short form or nothing. A decision about facts,
// which fails closed: what is not known counts as changed.
import { matchesGlob } from 'node:path'
import type { Changes } from './git-changes.ts'
import { allCrashPoints, crashParts, crashPoints, harmless, type Proof, proofs, provenElsewhere } from './proofs.ts'
import type { UsedFiles } from './used-files.ts'

/** A long form beyond this is named as due: with all of them `make test` would not end within the 90 minutes of CI. */
const maxPlayedSeconds = 300

/** Since when, and what differs. */
export type Since = { readonly base: string; readonly changes: Changes } | { readonly base: undefined; readonly why: string }
/** By the names of the parts of `make test-long`. */
export type SincePart = (part: string) => Since
/**
 * `long`: since the long form passed. `played`: since what `make test` plays of it when something changed did, by itself or as
 * part of the long form.
 */
export type Bases = { readonly long: SincePart; readonly played: SincePart }

export type Cases = {
  /** For SEKISHO_LONG. */
  readonly long: readonly string[]
  readonly leftOutFiles: readonly string[]
  readonly leftOutStages: readonly string[]
  /** What is left out, played in its long form or due, and why. */
  readonly lines: readonly string[]
}

/** Why a case is due; undefined when nothing of it changed. */
function dueBecause({ proves, file, tests = [] }: Proof, since: Since, used: UsedFiles): string | undefined {
  const own = [...tests, ...(file === undefined ? [] : [file])]
  const isOwn = (path: string): boolean => matches(path, proves) || own.some(test => used.byTest(test, path))
  return everythingBecause(since) ?? changedBecause(isOwn, since)
}

/** A test beside a module: no other file uses it. */
const testOfModule = /^(?:src|dev)\/.*\.test\.ts$/

/** Why everything is due, whatever it proves. */
function everythingBecause(since: Since): string | undefined {
  if (since.base === undefined) return since.why
  const { changes } = since
  if ('unknown' in changes) return changes.unknown
  const unknown = changes.find(path => !testOfModule.test(path) && !isKnown(path))
  return unknown === undefined ? undefined : `no list of dev/test/selection/proofs.ts knows ${unknown}`
}

function changedBecause(isMeant: (path: string) => boolean, since: Since): string | undefined {
  if (since.base === undefined || 'unknown' in since.changes) return undefined
  const changed = since.changes.find(path => !testOfModule.test(path) && isMeant(path))
  return changed === undefined ? undefined : `${changed} changed since ${since.base.slice(0, 12)}`
}

function matches(path: string, globs: readonly string[]): boolean {
  return globs.some(glob => matchesGlob(path, glob))
}

const known = [
  ...proofs.flatMap(({ proves }) => proves),
  ...Object.values(crashPoints).flat(),
  ...allCrashPoints,
  ...provenElsewhere,
]

/** Whether a list says what a file means for the tests. */
export function isKnown(path: string): boolean {
  return matches(path, known) || matches(path, harmless)
}

export function decideCases(bases: Bases, used: UsedFiles): Cases {
  const decided = proofs.map(proof => {
    const since = basesOf(proof, bases)(proof.part)
    return decideCase(proof, since, dueBecause(proof, since, used))
  })
  const crashes = decideCrashPoints(bases, used)
  const leftOut = decided.filter(({ played }) => played === 'nothing').map(({ proof }) => proof)
  return {
    long: [...decided.filter(({ played }) => played === 'long').map(({ proof }) => proof.name), ...crashes.long],
    leftOutFiles: leftOut.flatMap(({ file }) => file ?? []),
    leftOutStages: leftOut.flatMap(({ stages }) => stages ?? []),
    lines: [...decided.flatMap(({ line }) => line), ...crashes.lines],
  }
}

/** What `make test` never plays in its long form has passed with a part of `make test-long` only. */
function basesOf({ unchanged, longSeconds }: Proof, { long, played }: Bases): SincePart {
  return unchanged === 'short' && longSeconds > maxPlayedSeconds ? long : played
}

type Decided = { readonly proof: Proof; readonly played: 'long' | 'short' | 'nothing'; readonly line: readonly string[] }

function decideCase(proof: Proof, since: Since, why: string | undefined): Decided {
  const { name, part, unchanged, longSeconds } = proof
  const again = `make test-long PART=${part}`
  if (why === undefined) {
    const base = since.base?.slice(0, 12)
    const line = `left out: ${name}: nothing changed since ${base} that it proves; ${again} plays it`
    return unchanged === 'short' ? { proof, played: 'short', line: [] } : { proof, played: 'nothing', line: [line] }
  }
  if (longSeconds > maxPlayedSeconds) {
    const form = unchanged === 'short' ? 'its short form is played' : 'it is not played'
    return { proof, played: unchanged === 'short' ? 'short' : 'nothing', line: [`due: ${again} (${name}: ${why}; ${form})`] }
  }
  return { proof, played: 'long', line: [`${unchanged === 'short' ? 'in its long form' : 'played'}: ${name}: ${why}`] }
}

const pointsOf = (subject: string): string => `points of ${subject}`

/** Whether no scenario of the crash sweep is played only in turn. */
export function playsEveryCrashPoint({ long }: Pick<Cases, 'long'>): boolean {
  return Object.keys(crashPoints).every(subject => long.includes(pointsOf(subject)))
}

/** Of every scenario at most the points of its short form: around every write they take 40 minutes. */
function decideCrashPoints({ long, played }: Bases, used: UsedFiles): Pick<Cases, 'long' | 'lines'> {
  const changed = new Set(crashParts.flatMap(part => changedPoints(played(part), used).map(({ subject }) => subject)))
  return {
    long: [...changed].map(pointsOf),
    lines: crashParts.flatMap(part => {
      const due = changedPoints(long(part), used)
      const [first, ...others] = due
      if (first === undefined) return []
      const more = others.length === 0 ? '' : ` and ${others.length} more`
      const form = due.every(({ subject }) => changed.has(subject))
        ? 'all points of the short form are played'
        : 'of those that passed since, some points of the short form are played'
      return [`due: make test-long PART=${part} (crash points of ${first.subject}${more}: ${first.why}; ${form})`]
    }),
  }
}

function changedPoints(since: Since, used: UsedFiles): readonly { readonly subject: string; readonly why: string }[] {
  const everything = everythingBecause(since) ?? changedBecause(path => matches(path, allCrashPoints), since)
  return Object.entries(crashPoints).flatMap(([subject, globs]) => {
    const why = everything ?? changedBecause(path => matches(path, globs) || used.byScenario(subject, path), since)
    return why === undefined ? [] : [{ subject, why }]
  })
}
