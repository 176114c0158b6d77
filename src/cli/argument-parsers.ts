// Validates arguments before a command sends anything. commander adds the name of the option to the errors thrown here.
import { InvalidArgumentError } from 'commander'
import { parseUserSubject } from '../api/names.ts'

/** A whole number from 1 to `most`; it stays a text, because it becomes a query parameter. */
export function countUpTo(most: number): (text: string) => string {
  return text => {
    if (/^[1-9][0-9]{0,8}$/.test(text) && Number(text) <= most) return text
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${most}.`)
  }
}

/** The id of a commit, or enough of its beginning. */
export function commitStart(text: string): string {
  if (/^[0-9a-f]{7,64}$/i.test(text)) return text.toLowerCase()
  throw new InvalidArgumentError(
    'It must be the id of a commit, or at least its first seven letters, as git rev-parse HEAD prints it.',
  )
}

/** The number of a pull request; it stays a text. */
export function pullRequestNumber(text: string): string {
  if (/^[1-9][0-9]{0,8}$/.test(text)) return text
  throw new InvalidArgumentError('It must be the number of a pull request, such as 7.')
}

/** The same for an argument that can be repeated. */
export function pullRequestNumbers(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, pullRequestNumber(text)]
}

/** An https URL: kubectl sends the user's token there, so plain http is not accepted. */
export function httpsUrl(text: string): string {
  if (URL.canParse(text) && new URL(text).protocol === 'https:') return text
  throw new InvalidArgumentError('It must be an https URL such as https://10.0.0.1:6443.')
}

/** An RFC 1123 label, as Kubernetes requires for namespaces. */
export function namespaceName(text: string): string {
  if (/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(text)) return text
  throw new InvalidArgumentError('It must be the name of a namespace: lower-case letters, digits and dashes.')
}

/** A person as the platform names them. A login is not accepted: another person can take it over. */
export function userSubjectText(text: string): string {
  if (parseUserSubject(text) !== undefined) return text
  throw new InvalidArgumentError('It must be a subject such as github|github.com|42, as sekisho sessions list shows it.')
}

/** SHA-256 in base64. Its form tells it from a token, which must not be on a command line. */
export function tokenHash(text: string): string {
  if (/^[A-Za-z0-9+/]{43}=$/.test(text)) return text
  throw new InvalidArgumentError(
    'It must be a SHA-256 in base64, 44 characters that end with =; pass a token with --token-stdin.',
  )
}

/** The id of an onboarding. */
export function onboardingIdText(text: string): string {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)) return text
  throw new InvalidArgumentError('It must be the id of an onboarding, as sekisho onboardings list shows it.')
}

/** A reason for the audit log. */
export function reasonText(text: string): string {
  if (text.trim() !== '' && text.length <= 500) return text
  throw new InvalidArgumentError('It must have 1 to 500 characters.')
}

const secondsOf: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 }

/** A duration as kubectl takes it, in seconds. */
export function durationSeconds(text: string): number {
  const match = /^([1-9][0-9]{0,6})([smhd])$/.exec(text)
  if (match?.[1] !== undefined) return Number(match[1]) * (secondsOf[match[2] ?? 's'] ?? 1)
  throw new InvalidArgumentError('It must be a duration such as 90s, 10m, 2h or 1d.')
}

/** A repository, for an argument that can be repeated. */
export function repositoryNames(text: string, before: readonly string[] = []): readonly string[] {
  if (/^[A-Za-z0-9][A-Za-z0-9_-]{0,38}\/[A-Za-z0-9._-]{1,100}$/.test(text)) return [...before, text]
  throw new InvalidArgumentError('It must be a repository as owner/name, such as acme/shop.')
}

type Permission = readonly [name: string, level: 'read' | 'write' | 'admin']

/** A permission of GitHub Apps and its level, for an argument that can be repeated; each permission once. */
export function permissionLevels(text: string, before: readonly Permission[] = []): readonly Permission[] {
  const [, name, level] = /^([a-z_]{1,63})=(read|write|admin)$/.exec(text) ?? []
  if (name === undefined) throw new InvalidArgumentError('It must be a permission and its level, such as contents=read.')
  if (before.some(([other]) => other === name)) throw new InvalidArgumentError(`${name} is given twice: name its level once.`)
  return [...before, [name, level as Permission[1]]]
}

type GrantSubject = { readonly kind: 'Application' | 'ServiceAccount'; readonly name: string }

/** Who uses a grant, for an argument that can be repeated. The platform makes grants of other kinds of subjects itself. */
export function grantSubjects(text: string, before: readonly GrantSubject[] = []): readonly GrantSubject[] {
  const [, kind, name] = /^(Application|ServiceAccount)\/([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?)$/.exec(text) ?? []
  if (kind !== undefined && name !== undefined) return [...before, { kind: kind as GrantSubject['kind'], name }]
  throw new InvalidArgumentError('It must be Application/<name> or ServiceAccount/<name>, such as Application/web.')
}

/** Extensions of a database, for an argument that can be repeated; the class says which there are. */
export function extensionNames(text: string, before: readonly string[] = []): readonly string[] {
  if (!/^[a-z0-9_-]{1,63}$/.test(text)) throw new InvalidArgumentError('It must be the name of an extension, such as pg_trgm.')
  return before.includes(text) ? before : [...before, text]
}

/** Variables and the keys of a credential that they have, for an argument that can be repeated. */
export function variableKeys(text: string, before: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const [, name, key] = /^([A-Za-z_][A-Za-z0-9_]{0,127})=([a-z][a-z.-]{0,62})$/.exec(text) ?? []
  if (name === undefined || key === undefined)
    throw new InvalidArgumentError('It must be a variable and a key of the credential, such as PGHOST=host.')
  if (before[name] !== undefined) throw new InvalidArgumentError(`${name} is given twice.`)
  return { ...before, [name]: key }
}

/** The number of a release, as `7` or `v7`. */
export function releaseNumber(text: string): number {
  const match = /^v?([1-9][0-9]{0,8})$/.exec(text)
  if (match?.[1] !== undefined) return Number(match[1])
  throw new InvalidArgumentError('It must be the number of a release, such as 7 or v7: sekisho releases shows them.')
}
