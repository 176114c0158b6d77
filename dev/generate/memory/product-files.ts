// The files of the product whose state docs/reference/memory.md lists: src without tests, generated code, and the command
// line, whose process ends with the command.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SourceFile } from './memory-blocks.ts'

const exclude = ['**/*.test.ts', '**/testing/**', '**/generated/**', 'src/cli/**']

/** Reads all of them, in the order of their paths. */
export function productFiles(root: string): readonly SourceFile[] {
  return globSync('src/**/*.ts', { cwd: root, exclude })
    .toSorted()
    .map(path => ({ path, text: readFileSync(join(root, path), 'utf8') }))
}
