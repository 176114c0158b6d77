// `sekisho completion`: shell functions for the commands, their options and the names of objects, which are asked of the
// cluster with kubectl when the person presses Tab.
import type { Command } from 'commander'
import { bashScript } from './bash.ts'
import { fishScript } from './fish.ts'
import { commandWords } from './words.ts'
import { zshScript } from './zsh.ts'

export type Shell = 'bash' | 'zsh' | 'fish'

/** The script for one shell. */
export function completionScript(program: Command, shell: Shell): string {
  return { bash: bashScript, zsh: zshScript, fish: fishScript }[shell](commandWords(program))
}
