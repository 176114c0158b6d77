// The side of a measured program in TypeScript: reads one question per line, answers each with one line, in order, and ends with its input.
import { createInterface } from 'node:readline'
import { messageOf } from '../../../src/lib/errors.ts'

type Json = Readonly<Record<string, unknown>>

/** `answer` gets each question as it was sent. Call when everything is loaded; resolves when nobody asks any more. */
export async function answerEach(answer: (question: unknown) => Promise<object>): Promise<void> {
  const say = (value: object): boolean => process.stdout.write(`${JSON.stringify(value)}\n`)
  const lines = createInterface({ input: process.stdin })
  say({ ready: true })
  for await (const line of lines) await answer(JSON.parse(line)).then(say, (error: unknown) => say({ error: messageOf(error) }))
}

/** As `answerEach`, by what the member `do` of a question says. */
export function answerQuestions(answers: Readonly<Record<string, (question: Json) => Promise<object>>>): Promise<void> {
  return answerEach(async asked => {
    const question = asked as Json
    const answer = answers[String(question['do'])]
    if (answer === undefined) throw new Error(`unknown question ${JSON.stringify(question)}`)
    return answer(question)
  })
}

/** The live heap after collections. Needs `--expose-gc`. */
export function liveHeapBytes(): number {
  // Twice: what finalizers let go is collected by the second.
  globalThis.gc?.()
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}
