// How our programs are started for measuring: by the pinned Node.js that runs the bench, able to collect garbage when asked.
import { join } from 'node:path'
import type { ProgramOptions } from '../harness/program.ts'

function program(name: string, file: string): ProgramOptions {
  return { name, path: process.execPath, args: ['--expose-gc', join(import.meta.dirname, file)] }
}

export const ourProgram = program('Application controller', 'controller-process.ts')

/** Writes what a controller would write, and is none. */
export const bareProgram = program('bare writes', 'bare-process.ts')
