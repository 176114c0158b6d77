// Text of outsiders as one line that is safe to show.

/** Characters that move the cursor, change colours (C0 and C1) or change the direction of text. */
export const controls = /[\p{Cc}\p{Bidi_Control}]/gu

/** Replaces control characters, newlines among them, by `?`. */
export function printable(text: string): string {
  return text.replace(controls, '?')
}
