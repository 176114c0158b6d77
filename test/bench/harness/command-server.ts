// The protocol of a measured program in TypeScript: reads one command per line, answers each with one line, in order, until its
// input ends.
import { createInterface } from 'node:readline'
import { messageOf } from '../../../src/lib/errors.ts'
import { memoryInUse } from '../../../src/lib/testing/memory-in-use.ts'

type Json = Readonly<Record<string, unknown>>

/** Call when everything is loaded; `answer` gets each command as it was sent. Resolves when the input ends. */
export async function serveCommands(answer: (command: unknown) => Promise<object>): Promise<void> {
  const write = (value: object): boolean => process.stdout.write(`${JSON.stringify(value)}\n`)
  const lines = createInterface({ input: process.stdin })
  write({ ready: true })
  for await (const line of lines)
    await answer(JSON.parse(line)).then(write, (error: unknown) => write({ error: messageOf(error) }))
}

/** As `serveCommands`, with one handler for each value of a command's member `do`. */
export function dispatchCommands(answers: Readonly<Record<string, (command: Json) => Promise<object>>>): Promise<void> {
  return serveCommands(async received => {
    const command = received as Json
    const answer = answers[String(command['do'])]
    if (answer === undefined) throw new Error(`unknown command ${JSON.stringify(command)}`)
    return answer(command)
  })
}

export function liveHeapBytes(): number {
  return memoryInUse().heapUsed
}
