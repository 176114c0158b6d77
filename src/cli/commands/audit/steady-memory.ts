// Memory of commands that read a log of any length. By default the young generation of V8 grows with what a program allocates,
// up to three times 16 MB, whatever it keeps: here a batch is all that lives, and it has enough with what it has.
import { setFlagsFromString } from 'node:v8'

/** From now on the space of new objects stays as it is. Nothing else changes. */
export function keepMemorySteady(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
}
