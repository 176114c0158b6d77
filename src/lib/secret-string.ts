// A string that must never be seen by accident: JSON, string conversion and inspection show a mark, only `reveal()` the value.
// Tokens, keys and client secrets travel as SecretString from the edge where they enter to the edge where they are used.
import { timingSafeEqual } from 'node:crypto'
import { inspect } from 'node:util'

const mark = '[secret]'

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

  /** Compares in time that depends on length only. */
  equals(other: SecretString | string): boolean {
    const left = Buffer.from(this.#value)
    const right = Buffer.from(typeof other === 'string' ? other : other.reveal())
    return left.length === right.length && timingSafeEqual(left, right)
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
