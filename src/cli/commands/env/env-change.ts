// `sekisho env set` and `sekisho env unset`: the plain environment variables of an Application. Values of secrets are set with
// `sekisho secrets`.
import type { Application } from '../../../api/apps/application.ts'
import { AppError } from '../../../lib/errors.ts'
import { didYouMean } from '../../kubernetes/similar-names.ts'
import { type ClusterFormat, present } from '../../output.ts'
import { changeApplication } from '../application/change.ts'
import type { ClusterContext } from '../cluster-context.ts'

type Options = { readonly output: ClusterFormat }
type WriteOptions = Options & { readonly dryRun?: boolean }

type Variable = NonNullable<Application['spec']['env']>[number]

/** What a name or a value of a secret looks like. It is only a hint: nothing is refused. */
const secretName = /(SECRET|TOKEN|PASSWORD|PASSWD|PRIVATE|CREDENTIAL|API_?KEY)/
const secretValue = /^[a-z][-+.a-z0-9]*:\/\/[^/@\s]*:[^/@\s]+@/i

/** `KEY=value` as pairs; the value may be empty and may contain `=`. Throws `invalid_request`. */
export function parseVariables(words: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    words.map(word => {
      const end = word.indexOf('=')
      const name = end < 0 ? word : word.slice(0, end)
      if (end < 0) throw new AppError('invalid_request', `${name}: write a name and a value, such as LOG_LEVEL=debug`)
      if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
        throw new AppError('invalid_request', `${name}: a name has letters, digits and _, and does not begin with a digit`)
      return [name, word.slice(end + 1)]
    }),
  )
}

/** Why the platform would ignore the variable; undefined for one that can be set. */
export function reservedVariable(name: string): string | undefined {
  if (name === 'PORT') return 'the platform sets PORT to the port of each process: change the port in spec.processes'
  return name.startsWith('SEKISHO_') ? `${name}: names that begin with SEKISHO_ are set by the platform` : undefined
}

/** The variables with these values, the new ones at the end. */
export function withVariables(env: readonly Variable[], values: ReadonlyMap<string, string>): readonly Variable[] {
  const kept = env.map(variable => {
    const value = values.get(variable.name)
    return value === undefined ? variable : { name: variable.name, value }
  })
  const known = new Set(env.map(({ name }) => name))
  return [...kept, ...[...values].filter(([name]) => !known.has(name)).map(([name, value]) => ({ name, value }))]
}

/** The variables without these. Throws `not_found` for one that is not set. */
export function withoutVariables(env: readonly Variable[], names: readonly string[]): readonly Variable[] {
  const known = env.map(({ name }) => name)
  for (const name of names)
    if (!known.includes(name)) throw new AppError('not_found', `${name} is not set${didYouMean(name, known)}`)
  return env.filter(({ name }) => !names.includes(name))
}

/** Sets variables and says which ones look like secrets. */
export async function envSet(
  context: ClusterContext,
  options: WriteOptions,
  name: string,
  words: readonly string[],
): Promise<void> {
  const values = parseVariables(words)
  for (const key of values.keys()) {
    const refused = reservedVariable(key)
    if (refused !== undefined) throw new AppError('invalid_request', refused)
  }
  await changeApplication(context.cluster, name, options.dryRun, ({ spec }) => ({ env: withVariables(spec.env ?? [], values) }))
  for (const [key, value] of values)
    if (secretName.test(key) || secretValue.test(value))
      context.terminal.say(
        `${key} looks like a secret: everybody who may read the Application reads its value. sekisho secrets set ${name} ${key} keeps it unreadable`,
      )
  await changed(context, options, name, [...values.keys()])
}

/** Removes variables. */
export async function envUnset(
  context: ClusterContext,
  options: WriteOptions,
  name: string,
  names: readonly string[],
): Promise<void> {
  await changeApplication(context.cluster, name, options.dryRun, ({ spec }) => ({
    env: withoutVariables(spec.env ?? [], names),
  }))
  await changed(context, options, name, names)
}

async function changed(context: ClusterContext, options: WriteOptions, name: string, names: readonly string[]): Promise<void> {
  const value = { application: name, variables: names, dryRun: options.dryRun === true }
  const text = (): string =>
    options.dryRun === true
      ? `${name}: ${names.join(', ')} would change (dry run)`
      : `${name}: ${names.join(', ')} changed; its processes are restarted with it, one pod after the other`
  await present(context.terminal, options.output, { value, text })
}
