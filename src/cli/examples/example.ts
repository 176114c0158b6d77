// The shape of an example.

export type Example = {
  readonly line: string
  readonly does: string
  /** What does the same, or shows the same, with kubectl alone. */
  readonly kubectl?: string
}
