// The side of the person: standard input as a terminal, a stream or nothing, and standard output for a program that draws.
import { fstatSync } from 'node:fs'

export type Size = { readonly columns: number; readonly rows: number }

export type LocalTerminal = {
  /** `none`: nothing can come, as from /dev/null. */
  readonly input: 'terminal' | 'stream' | 'none'
  /** Everything that comes; ends with standard input. Keys, Ctrl-C among them, come one by one while it is `raw`. */
  readonly bytes: () => AsyncIterable<Uint8Array>
  readonly write: (bytes: Uint8Array) => void
  /** Undefined where nothing is a terminal. */
  readonly size: () => Size | undefined
  /** Calls back for each change of the size; returns how to stop it. */
  readonly onResize: (changed: () => void) => () => void
  readonly raw: (isRaw: boolean) => void
  /** Lets the process end although standard input may go on. */
  readonly release: () => void
}

function inputKind(): LocalTerminal['input'] {
  if (process.stdin.isTTY) return 'terminal'
  try {
    return fstatSync(0).isCharacterDevice() ? 'none' : 'stream'
  } catch {
    // A process can be started without standard input.
    return 'none'
  }
}

/** Of this process. */
export function processTerminal(): LocalTerminal {
  const { stdin, stdout } = process
  return {
    input: inputKind(),
    bytes: () => stdin as AsyncIterable<Uint8Array>,
    write: bytes => void stdout.write(bytes),
    size: () => (stdout.isTTY ? { columns: stdout.columns, rows: stdout.rows } : undefined),
    onResize(changed) {
      stdout.on('resize', changed)
      return () => void stdout.off('resize', changed)
    },
    raw: isRaw => void (stdin.isTTY && stdin.setRawMode(isRaw)),
    release: () => void stdin.destroy(),
  }
}
