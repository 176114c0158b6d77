// Finds PostgreSQL's programs on this machine: the Debian packages keep them outside of PATH, in one folder per version.
// It installs nothing: `cure` is the command that installs them.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

export const debianPackage = 'postgresql'
export const cure = `apt-get install -y --no-install-recommends ${debianPackage}`

const debianFolder = '/usr/lib/postgresql'
const otherFolders = ['/usr/local/pgsql/bin', '/usr/bin', '/usr/local/bin', '/opt/homebrew/bin']

/** The folder that holds `initdb` and `postgres`, of the newest version; undefined when there is none. */
export function findPostgres(): string | undefined {
  const versions = existsSync(debianFolder) ? readdirSync(debianFolder) : []
  const debian = versions.sort((a, b) => Number(b) - Number(a)).map(version => join(debianFolder, version, 'bin'))
  return [...debian, ...otherFolders].find(folder => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')))
}
