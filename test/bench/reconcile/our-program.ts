// How our programs are started for measurements: with the Node.js that runs the bench and the options of the controllers'
// Deployment, able to collect garbage on command.
import { join } from 'node:path'
import { programOf } from '../../platform/process-plans.ts'
import type { ProgramOptions } from '../harness/program.ts'

const options = programOf('controllers').slice(0, -1)

function program(name: string, file: string): ProgramOptions {
  return { name, path: process.execPath, args: [...options, '--expose-gc', join(import.meta.dirname, file)] }
}

export const ourProgram = program('Application controller', 'controller-process.ts')

/** Makes the writes of a controller without being one. */
export const bareProgram = program('bare writes', 'bare-process.ts')
