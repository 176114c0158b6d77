// The side of a measured program in TypeScript: reads one question per line, answers each with one line, in order, and ends with its input.
import { createInterface } from 'node:readline'
import { messageOf } from '../../../src/lib/errors.ts'

type Json = Readonly<Record<string, unknown>>

/** Resolves when nobody asks any more. Call when everything is loaded: the first line says that the program is ready. */
export async function answerQuestions(answers: Readonly<Record<string, (question: Json) => Promise<object>>>): Promise<void> {
  const say = (value: object): boolean => process.stdout.write(`${JSON.stringify(value)}\n`)
  const lines = createInterface({ input: process.stdin })
  say({ ready: true })
  for await (const line of lines) {
    const question = JSON.parse(line) as Json
    const answer = answers[String(question['do'])]
    await (answer?.(question) ?? Promise.reject(new Error(`unknown question ${line}`))).then(say, (error: unknown) =>
      say({ error: messageOf(error) }),
    )
  }
}

/** The live heap after collections. Needs `--expose-gc`. */
export function liveHeapBytes(): number {
  // Twice: what finalizers let go is collected by the second.
  globalThis.gc?.()
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}
