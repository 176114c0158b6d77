// Reading the output of apt.
import { expect, test } from 'vitest'
import { dependencyClosure, parseDependencies, parsePackageFiles } from './dependency-closure.ts'

const answer = `git
  Depends: libc6
 |Depends: perl
  PreDepends: zlib1g
  Depends: <awk>
    mawk
  Recommends: less
perl
  Depends: libperl
libc6
  Depends: libgcc-s1
libgcc-s1
  Depends: libc6
`

test('relations include alternatives and leave out virtual names and recommendations', () => {
  expect(parseDependencies(answer).get('git')).toEqual(['libc6', 'perl', 'zlib1g'])
})

test('a cycle ends, and pruning a package also removes what only it needs', () => {
  expect(dependencyClosure(parseDependencies(answer), ['git'], new Set(['perl']))).toEqual([
    'git',
    'libc6',
    'libgcc-s1',
    'zlib1g',
  ])
})

test('names and checksums of files are read, other lines are ignored', () => {
  const sha256 = 'a'.repeat(64)
  const text = `Reading package lists...\n'http://deb/x_1%3a2_amd64.deb' x_1%3a2_amd64.deb 12 SHA256:${sha256}\n'http://deb/y.deb' y.deb 12 MD5:1\n`
  expect(parsePackageFiles(text)).toEqual([{ name: 'x', fileName: 'x_1%3a2_amd64.deb', sha256 }])
})
