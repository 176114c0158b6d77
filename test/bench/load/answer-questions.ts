// The child's side of a measured program: says that it is ready, answers questions line by line in order, and ends when they end.
// Standard output belongs to the answers; a program that has something else to say says it on standard error.
import { createInterface } from 'node:readline'
import { messageOf } from '../../../src/lib/errors.ts'

/** `answer` gets each question as it was sent. Resolves when standard input is closed; the caller then ends the process. */
export async function answerQuestions(answer: (question: unknown) => Promise<object>): Promise<void> {
  const say = (value: object): boolean => process.stdout.write(`${JSON.stringify(value)}\n`)
  const lines = createInterface({ input: process.stdin })
  say({ ready: true })
  for await (const line of lines) {
    await answer(JSON.parse(line)).then(say, (error: unknown) => say({ error: messageOf(error) }))
  }
}
