// One way in which builds fail: how it is recognized in a log, and the sentence that a person needs.

export type Rule = {
  /**
   * Matched against the cleaned log, whose lines end with `\n`; the line in which the match begins is the cause. Must have the
   * flag `m`.
   */
  readonly pattern: RegExp
  /** What is wrong and what to do about it, without a full stop. */
  readonly say: (match: RegExpExecArray, log: CleanLog) => string
}

/** The end of a step's log without colours, tokens and the lines that every build prints. */
export type CleanLog = {
  readonly text: string
  readonly lines: readonly string[]
}

/** A group of a match that did not take part is the empty text. */
export function group(match: RegExpExecArray, number: number): string {
  return match[number] ?? ''
}
