// Parses the arguments, runs one command, and reports an error as one line on standard error and an exit code.
import { CommanderError } from 'commander'
import { CommandEnded, errorText, exitCodeOf, exitCodes, processTerminal } from './output.ts'
import { createProgram } from './program.ts'

// A reader such as `head` may close the pipe before the end.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // A terminal that vanished: SIGHUP says so, too.
    if (error.code === 'EIO') return
    if (error.code !== 'EPIPE') throw error
    process.exit()
  })

try {
  await createProgram(processTerminal).parseAsync()
} catch (error) {
  if (error instanceof CommanderError) {
    // commander has printed the requested help, or what is wrong with the arguments.
    process.exitCode = error.exitCode === 0 ? 0 : exitCodes.usage
  } else {
    if (!(error instanceof CommandEnded)) processTerminal.say(await errorText(error))
    process.exitCode = exitCodeOf(error)
  }
}
