// The scripts for pods in the ConfigMap sekisho-git of every tenant's namespace: a credential helper of git and a client of
// GitHub's API. They are texts of this folder in which only the addresses of the platform are filled in.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { AppError } from '../../../lib/errors.ts'

/** The ConfigMap that workloads mount at /etc/sekisho. */
export const scriptsConfigMap = 'sekisho-git'

export type ScriptAddresses = {
  /** Host names inside the cluster. */
  readonly tokenDeskHost: string
  readonly gitProxyHost: string
}

const textOf = (name: string): string => readFileSync(join(import.meta.dirname, `${name}.sh`), 'utf8')
const texts = { 'git-credential': textOf('git-credential'), 'github-api': textOf('github-api') } as const

/** Key → script. Throws `invalid_configuration` for a host that a shell would read otherwise. */
export function workloadScripts({ tokenDeskHost, gitProxyHost }: ScriptAddresses): Readonly<Record<keyof typeof texts, string>> {
  const filled = (text: string): string =>
    text.replaceAll('@TOKEN_DESK@', hostName(tokenDeskHost)).replaceAll('@GIT_PROXY@', hostName(gitProxyHost))
  return { 'git-credential': filled(texts['git-credential']), 'github-api': filled(texts['github-api']) }
}

function hostName(text: string): string {
  if (/^[A-Za-z0-9.-]+(:\d+)?$/.test(text)) return text
  throw new AppError(
    'invalid_configuration',
    `${text} is not a host name: set SEKISHO_TOKEN_DESK_HOST and SEKISHO_GIT_PROXY_HOST`,
  )
}
