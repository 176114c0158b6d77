// What may stand where on the command line, read from the program itself, so that completion never differs from what it
// accepts. Pure.
import type { Argument, Command, Option } from 'commander'
import { commandPath, leafCommands } from '../examples.ts'

export type Word = { readonly word: string; readonly description: string }

/**
 * Where the values of an argument or an option come from. In the scripts it is one word and what follows it: `words table
 * json`, `files`, `contexts`, `names` or `kinds` and the resources that kubectl is asked for, `free` for what only the person
 * knows.
 */
export type Values = string

export type CommandWords = {
  /** `` for the program, `env` for a group, `env list` for a command. */
  readonly path: string
  /** Subcommands of a group, options of a command. */
  readonly words: readonly Word[]
  /** Of a command: the values of its options, by each of their flags; options without a value are not in it. */
  readonly options: readonly { readonly flags: readonly string[]; readonly values: Values }[]
  /** Of a command: the values of its first argument, and whether the following ones are of the same kind. */
  readonly argument?: { readonly values: Values; readonly repeats: boolean } | undefined
}

/** In full: other operators have resources of the same name. */
const resources = {
  applications: 'applications.apps.sekisho.dev',
  pipelines: 'apppipelines.apps.sekisho.dev',
  remoteSyncs: 'remotesyncs.apps.sekisho.dev',
  grants: 'repositorygrants.github.sekisho.dev',
  halts: 'halts.github.sekisho.dev',
  policies: 'grantpolicies.github.sekisho.dev',
  classes: 'serviceclasses.services.sekisho.dev',
  instances: 'serviceinstances.services.sekisho.dev',
  buckets: 'buckets.services.sekisho.dev',
  bindings: 'servicebindings.services.sekisho.dev',
} as const

const namesOf: Readonly<Record<string, Values>> = {
  application: `names ${resources.applications}`,
  pipeline: `names ${resources.pipelines}`,
  halt: `names ${resources.halts}`,
  grant: `names ${resources.grants}`,
  policy: `names ${resources.policies}`,
  class: `names ${resources.classes}`,
  service: `names ${resources.instances},${resources.buckets}`,
  'kind/name': `kinds ${resources.applications},${resources.remoteSyncs},${resources.grants},${resources.instances},${resources.buckets},${resources.bindings}`,
}

/** Arguments whose name says less than their command does. */
const namesOfCommand: Readonly<Record<string, Values>> = {
  transfer: `kinds ${resources.remoteSyncs},${resources.pipelines}`,
  'builds logs': `names ${resources.remoteSyncs}`,
}

function argumentValues(path: string, argument: Argument | undefined): CommandWords['argument'] {
  if (argument === undefined) return undefined
  const { argChoices, variadic } = argument
  const values = argChoices === undefined ? (namesOfCommand[path] ?? namesOf[argument.name()]) : `words ${argChoices.join(' ')}`
  return values === undefined ? undefined : { values, repeats: variadic }
}

/** Undefined for an option without a value. */
function optionValues({ flags, long, argChoices }: Option): Values | undefined {
  const [, value] = /[<[](.+)[>\]]/.exec(flags) ?? []
  if (value === undefined) return undefined
  if (argChoices !== undefined) return `words ${argChoices.join(' ')}`
  if (value === 'file') return 'files'
  if (long === '--context') return 'contexts'
  if (long === '--class') return `names ${resources.classes}`
  if (long === '--application') return `names ${resources.applications}`
  if (long === '--remote-sync') return `names ${resources.remoteSyncs}`
  return 'free'
}

function leafWords(leaf: Command): CommandWords {
  const path = commandPath(leaf)
  const options = leaf.options.flatMap(option => {
    const values = optionValues(option)
    const flags = [option.short, option.long].filter(flag => flag !== undefined && flag !== null)
    return values === undefined ? [] : [{ flags, values }]
  })
  const words = leaf.options.flatMap(({ long, description }) =>
    long === undefined || long === null ? [] : [{ word: long, description }],
  )
  const help = { word: '--help', description: 'show what it does, with examples' }
  return { path, words: [...words, help], options, argument: argumentValues(path, leaf.registeredArguments[0]) }
}

function groupWords(path: string, group: Command): CommandWords {
  const words = group.commands.map(command => ({ word: command.name(), description: command.description() }))
  return { path, words, options: [] }
}

/** The program, its groups, and its commands. */
export function commandWords(program: Command): readonly CommandWords[] {
  const groups = program.commands.filter(({ commands }) => commands.length > 0)
  return [
    groupWords('', program),
    ...groups.map(group => groupWords(group.name(), group)),
    ...leafCommands(program).map(leafWords),
  ]
}
