// The order of the files of a project, for Vitest: longest first, so that none of the long ones runs alone at the end. It is
// the committed one (times.ts), with or without Vitest's cache.
import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { TestSpecification } from 'vitest/node'
import { BaseSequencer } from 'vitest/node'

const order = JSON.parse(readFileSync(join(import.meta.dirname, 'file-order.json'), 'utf8')) as Readonly<Record<string, number>>

/** Files without a number are new: they may be long, and come first. Equal ones by their paths. */
export function longestFirst(files: readonly string[], seconds: Readonly<Record<string, number>>): readonly string[] {
  const of = (file: string): number => seconds[file] ?? Number.POSITIVE_INFINITY
  return files.toSorted((a, b) => (of(a) === of(b) ? (a < b ? -1 : 1) : of(b) - of(a)))
}

export class FileSequencer extends BaseSequencer {
  /** The projects stay in the order that Vitest gives them. */
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const projects = Map.groupBy(await super.sort(specifications), ({ project }) => project)
    return [...projects].flatMap(([project, files]) => {
      const byPath = new Map(files.map(file => [relative(project.vitest.config.root, file.moduleId), file]))
      return longestFirst([...byPath.keys()], order).flatMap(path => byPath.get(path) ?? [])
    })
  }
}
