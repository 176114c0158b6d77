// What stops a run before its first test is said in one sentence: the place in our code and Vitest's does not help whoever
// has to free a port or a disk.
import { AppError } from '../../../src/lib/errors.ts'

/** Rejects with the message alone, without a stack trace, for an AppError: it is not a defect of ours. */
export async function inOneSentence<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const sentence = new Error(error.message)
    sentence.stack = error.message
    throw sentence
  }
}
