// Where a release came from, in words for people: on pages and on the command line. Pure. A program chooses the name by which it
// writes, so that such a name never stands where that of a person would.
import { personText } from '../names.ts'
import type { Release } from './release.ts'

/** By the name of its field manager. */
const programs: readonly (readonly [RegExp, string])[] = [
  [/^sekisho-cli$/, 'the command sekisho'],
  [/^kubectl(-|$)/, 'kubectl'],
]
const maxProgram = 80

function programOf(name: string): string {
  const [, manager] = /^unknown \((.*)\)$/s.exec(name) ?? []
  if (manager === undefined) return 'by a program that is not known'
  const known = programs.find(([pattern]) => pattern.test(manager))?.[1]
  return known === undefined ? `by a program that calls itself “${manager.slice(0, maxProgram)}”` : `with ${known}`
}

/** A person where it is certain who it was, else what is known. */
export function releaseAuthor({ by, reason }: Pick<Release['spec'], 'by' | 'reason'>): string {
  const { kind, name, login, alsoChangedBy } = by
  if (kind === 'User') return personText(name, login)
  if (kind === 'RemoteSync') return login === undefined ? `RemoteSync ${name}` : `RemoteSync ${name} of ${login}`
  if (kind === 'Tag') return `tag ${name}`
  if (reason === 'CredentialReplaced') return 'the platform, which replaced the credential of a service'
  if (reason === 'SecretChanged') return 'whoever changed the AppSecret: not recorded here'
  if (alsoChangedBy !== undefined) return `${personText(alsoChangedBy, login)}, perhaps with others ${programOf(name)}`
  return `somebody ${programOf(name)}: not recorded`
}
