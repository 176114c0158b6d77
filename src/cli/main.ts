#!/usr/bin/env node
// `sekisho`: parses, runs one command, turns errors into one line on standard error and an exit code.
import { CommanderError } from 'commander'
import { errorText, exitCodeOf, exitCodes, processTerminal } from './output.ts'
import { createProgram } from './program.ts'

// Whoever reads our output may have seen enough, as `head` does.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    process.exit()
  })

try {
  await createProgram(processTerminal).parseAsync()
} catch (error) {
  if (error instanceof CommanderError) {
    // Said already: the help that was asked for, or what is wrong with the arguments.
    process.exitCode = error.exitCode === 0 ? 0 : exitCodes.usage
  } else {
    processTerminal.say(await errorText(error))
    process.exitCode = exitCodeOf(error)
  }
}
