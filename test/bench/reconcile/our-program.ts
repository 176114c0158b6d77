// How our controller is started for measuring: the pinned Node.js that runs the bench, able to collect garbage when asked.
import { join } from 'node:path'
import type { ProgramOptions } from '../harness/program.ts'

export const ourProgram: ProgramOptions = {
  name: 'Application controller',
  path: process.execPath,
  args: ['--expose-gc', join(import.meta.dirname, 'controller-process.ts')],
}
