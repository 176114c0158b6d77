#!/usr/bin/env node
import { errorText, exitCodeOf, exitCodes, processTerminal } from './output.ts'
// `sekisho`: parses, runs one command, turns errors into one line on standard error and an exit code.
import { createProgram } from './program.ts'

const program = createProgram(processTerminal)
program.exitOverride(error => {
  process.exit(error.exitCode === 0 ? 0 : exitCodes.usage)
})
for (const command of [...program.commands, ...program.commands.flatMap(({ commands }) => commands)])
  command.exitOverride(error => {
    process.exit(error.exitCode === 0 ? 0 : exitCodes.usage)
  })
try {
  await program.parseAsync()
} catch (error) {
  processTerminal.say(await errorText(error))
  process.exitCode = exitCodeOf(error)
}
