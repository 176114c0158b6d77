// What a file of another platform says about an application: what it is here, and what has no place here. Pure.
import type { WantedBuild } from '../wanted.ts'

export type FoundProcess = {
  readonly name: string
  readonly command?: readonly string[]
  readonly port?: number
  readonly replicas?: number
}

export type FoundCron = { readonly name: string; readonly schedule: string; readonly command: readonly string[] }

export type Found = {
  readonly file: string
  readonly name?: string | undefined
  readonly processes?: readonly FoundProcess[]
  readonly env?: ReadonlyMap<string, string>
  readonly cron?: readonly FoundCron[]
  readonly releaseJob?: readonly string[]
  readonly build?: WantedBuild
  /** Sentences: what was not taken over, and what to do instead; `<application>` in them stands for its name. */
  readonly notes: readonly string[]
}

/** As many as an Application may have. */
export const most = { processes: 10, variables: 100, cron: 20, notes: 50 } as const

/** A command line as people write it: for a shell. */
export function inShell(line: string): readonly string[] {
  return ['sh', '-c', line]
}

/** Lower-case letters, digits and dashes, as processes are named here. */
export function processName(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 40)
}

/** `<application>` stands for its name, which is not known yet. */
export function variableWithoutValue(name: string): string {
  return `variable ${name.slice(0, 60)} has no value: sekisho env set <application> ${name.slice(0, 60)}=…, or sekisho secrets set <application> ${name.slice(0, 60)}`
}

/** Whether the name or the value of a variable looks like a secret, which nobody should write into a manifest. */
export function looksSecret(name: string, value: string): boolean {
  return (
    /(SECRET|TOKEN|PASSWORD|PASSWD|PRIVATE|CREDENTIAL|API_?KEY)/i.test(name) ||
    /^[a-z][-+.a-z0-9]*:\/\/[^/@\s]*:[^/@\s]+@/i.test(value)
  )
}

/** The variables that can be written down, and a note for each that cannot. */
export function variablesOf(entries: Iterable<readonly [string, string]>): {
  readonly env: ReadonlyMap<string, string>
  readonly notes: readonly string[]
} {
  const env = new Map<string, string>()
  const notes: string[] = []
  for (const [name, value] of entries) {
    if (!/^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(name))
      notes.push(`variable ${name.slice(0, 60)}: a name has letters, digits and _`)
    else if (name === 'PORT' || name.startsWith('SEKISHO_')) notes.push(`variable ${name}: the platform sets it`)
    else if (looksSecret(name, value))
      notes.push(`variable ${name} looks like a secret: sekisho secrets set <application> ${name}`)
    else if (env.size >= most.variables) notes.push(`variable ${name}: more than ${most.variables} are not written`)
    else env.set(name, value)
  }
  return { env, notes }
}
