// A string that must never be printed by accident: JSON, string conversion and inspection show `[secret]`; only `reveal()`
// returns the value. Tokens, keys and client secrets are SecretStrings from where they enter the process to where they are
// used.
import { inspect } from 'node:util'
import { equalInConstantTime } from './text/constant-time.ts'

const mark = '[secret]'

/** Immutable. */
export class SecretString {
  readonly #value: string

  constructor(value: string) {
    this.#value = value
  }

  /** The value itself. Call it only where the value leaves the process or enters a cipher. */
  reveal(): string {
    return this.#value
  }

  get length(): number {
    return this.#value.length
  }

  /** Compares in a time that depends on the length only. */
  equals(other: SecretString | string): boolean {
    return equalInConstantTime(this.#value, typeof other === 'string' ? other : other.reveal())
  }

  toString(): string {
    return mark
  }

  toJSON(): string {
    return mark
  }

  [inspect.custom](): string {
    return mark
  }
}
