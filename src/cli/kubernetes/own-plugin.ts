// Whether the user of a kubeconfig is our own exec plugin, and with which settings: its token is then taken in this process,
// because starting ourselves once more costs every command its start-up time twice.
import { basename } from 'node:path'
import { listAt, objectAt, objectsAt, textAt } from '../../lib/json/json-value.ts'
import { type CliFlags, ownCommand } from '../config.ts'
import type { ResolvedKubeconfig } from './resolved-kubeconfig.ts'

const flagNames: Readonly<Record<string, keyof CliFlags>> = { '--issuer': 'issuer', '--ca-file': 'caFile' }

/**
 * The flags of `sekisho token` in the kubeconfig. Undefined for any other user, and for arguments or variables that are not
 * ours.
 */
export function ownPluginFlags({ user }: ResolvedKubeconfig, own: string = ownCommand()): CliFlags | undefined {
  const exec = objectAt(user, 'exec')
  const command = textAt(exec, 'command')
  if (command === undefined || (command !== own && basename(command) !== 'sekisho')) return undefined
  if (objectsAt(exec, 'env').length > 0 || Object.keys(user).length !== 1) return undefined
  const [first, ...rest] = listAt(exec, 'args')
  return first === 'token' ? flagsIn(rest) : undefined
}

function flagsIn(words: readonly unknown[]): CliFlags | undefined {
  const flags: { -readonly [name in keyof CliFlags]: CliFlags[name] } = {}
  for (let index = 0; index < words.length; index += 2) {
    const name = flagNames[String(words[index])]
    const value = words[index + 1]
    if (name === undefined || typeof value !== 'string') return undefined
    flags[name] = value
  }
  return flags
}
