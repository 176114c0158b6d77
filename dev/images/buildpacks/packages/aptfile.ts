// The Aptfile: one name of a Debian package per line. Pure. Nothing but a name reaches apt: no option, version, file, address or
// other source.
import { BuildFailure } from '../shared/build-failure.ts'
import { refuseConflict } from '../shared/text-file.ts'

const maxPackages = 50
/** https://www.debian.org/doc/debian-policy/ch-controlfields.html#source */
const packageName = /^[a-z0-9][a-z0-9+.-]+$/
const maxName = 100

/** @throws BuildFailure that names the line */
export function parseAptfile(text: string): readonly string[] {
  refuseConflict('Aptfile', text)
  const names = new Set<string>()
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.replace(/(?:^|\s)#.*$/, '').trim()
    if (line === '') continue
    const problem = problemOf(line)
    if (problem !== undefined) throw new BuildFailure(`Aptfile, line ${index + 1}: ${shown(line)} ${problem}`)
    names.add(line)
    if (names.size > maxPackages)
      throw new BuildFailure(`Aptfile lists more than ${maxPackages} packages: build with a Dockerfile`)
  }
  return [...names]
}

function problemOf(line: string): string | undefined {
  // apt takes a minus at the end as an order to remove the package.
  if (packageName.test(line) && line.length <= maxName && !line.endsWith('-')) return undefined
  if (/^:repo:|^deb(?:-src)?\s|^ppa:/.test(line))
    return 'names another source: packages come from Debian 12 only; use a Dockerfile for others'
  if (/^https?:|\.deb$|\//.test(line)) return 'is an address or a file: write the name of a package of Debian 12'
  if (/(?:^|\s)-/.test(line)) return 'is an option of apt: write names of packages only'
  if (line.includes('=')) return 'asks for a version: Debian 12 has one of each package; write its name only'
  if (/\s/.test(line)) return 'is more than a name: write one package per line'
  return 'is not the name of a Debian package: write small letters, digits and + - . only'
}

function shown(line: string): string {
  return JSON.stringify(line.length > 60 ? `${line.slice(0, 60)}…` : line)
}
