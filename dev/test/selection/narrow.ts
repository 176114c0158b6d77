// What of the lanes of `make test` is left when only some files of tests, or some cases, are played.
import { type Lane, type Stage, vitestArguments } from '../stages.ts'
import type { Affected } from './affected.ts'

type Narrowed = { readonly lane: Lane; readonly lines: readonly string[] }

/** Without the stages of these titles. */
export function withoutStages(lane: Lane, titles: readonly string[]): Lane {
  return lane.filter(({ title }) => !titles.includes(title))
}

/**
 * The stages of Vitest with the affected files only, and of the others those that `isPlayed`. A line says what is left out,
 * and why.
 */
export function onlyAffected(lane: Lane, affected: Affected, isPlayed: (stage: Stage) => string | undefined): Narrowed {
  if (affected.everything !== undefined) return { lane, lines: [] }
  const narrowed = lane.map((stage): { readonly stage: Stage | undefined; readonly line: readonly string[] } => {
    const { title, projects } = stage
    if (projects === undefined) {
      const why = isPlayed(stage)
      return why === undefined ? { stage, line: [] } : { stage: undefined, line: [`left out: ${title}: ${why}`] }
    }
    const files = projects.flatMap(project => affected.files[project] ?? [])
    if (files.length === 0) return { stage: undefined, line: [`left out: ${title}: no file of theirs uses what changed`] }
    return {
      stage: { ...stage, args: vitestArguments(projects, files) },
      line: [`only: ${title}: ${files.length} ${files.length === 1 ? 'file uses' : 'files use'} what changed`],
    }
  })
  return { lane: narrowed.flatMap(({ stage }) => stage ?? []), lines: narrowed.flatMap(({ line }) => line) }
}
