// What an Aptfile may say, which packages reach the image, and what is said about failures. Whole runs with apt were made by
// hand: they need Debian's archive.
import { expect, onTestFinished, test } from 'vitest'
import { openWorkshop } from '../testing/run-on-host.ts'
import { type FetchedFile, failureOf, parseFiles } from './apt.ts'
import { parseAptfile } from './aptfile.ts'
import { withoutInstalled } from './build.ts'
import { runSet } from './run-set.ts'

test('one name per line, comments and empty lines are skipped, and each counts once', () => {
  expect(parseAptfile('# tools\n\nlibvips42\n  ffmpeg  # for films\nlibstdc++6\nffmpeg\n')).toEqual([
    'libvips42',
    'ffmpeg',
    'libstdc++6',
  ])
})

test.each([
  ['--allow-unauthenticated', 'is an option of apt'],
  ['-oDir::Etc=x', 'is an option of apt'],
  ['curl -o Debug=1', 'is an option of apt'],
  [':repo:deb http://x/ stable main', 'names another source'],
  ['ppa:someone/thing', 'names another source'],
  ['deb [trusted=yes] http://x stable main', 'names another source'],
  ['https://x.example/a.deb', 'is an address or a file'],
  ['./a.deb', 'is an address or a file'],
  ['../x', 'is an address or a file'],
  ['ffmpeg=7:5.1', 'asks for a version'],
  ['ffmpeg curl', 'is more than a name'],
  ['ffmpeg;id', 'is not the name of a Debian package'],
  ['$(id)', 'is not the name of a Debian package'],
  ['FFmpeg', 'is not the name of a Debian package'],
  ['x', 'is not the name of a Debian package'],
  ['libc6-', 'is not the name of a Debian package'],
  ['ffmpeg:i386', 'is not the name of a Debian package'],
  ['a'.repeat(101), 'is not the name of a Debian package'],
])('%j is refused', (line, problem) => {
  expect(() => parseAptfile(`curl\n${line}\n`)).toThrow(
    `Aptfile, line 2: ${JSON.stringify(line.length > 60 ? `${line.slice(0, 60)}…` : line)} ${problem}`,
  )
})

test('a merge conflict is named', () => {
  expect(() => parseAptfile('<<<<<<< HEAD\ncurl\n=======\nwget\n>>>>>>> other\n')).toThrow(
    'Aptfile has an unresolved merge conflict',
  )
})

test('the number of packages is bounded', () => {
  const names = Array.from({ length: 51 }, (_, index) => `package-${index}`)
  expect(() => parseAptfile(names.join('\n'))).toThrow('more than 50 packages')
})

test('headers and compilers stay in the build; the libraries that headers belong to reach the image', () => {
  const one = (name: string, section: string, depends = '', provides = ''): Parameters<typeof runSet>[0][number] => ({
    name,
    section,
    depends,
    provides,
  })
  const packages = [
    one('libpq-dev', 'libdevel', 'libpq5 (= 15), libssl-dev'),
    one('libpq5', 'libs', 'libssl3 (>= 3), libldap | libldap-old'),
    one('libssl-dev', 'libdevel', 'libssl3'),
    one('libssl3', 'libs'),
    one('libldap', 'libs', '', 'libldap-any'),
    one('build-essential', 'devel', 'gcc'),
    one('gcc', 'devel', 'libasan8'),
    one('libasan8', 'libs'),
    one('imagemagick', 'graphics', 'libldap-any'),
  ]
  expect([...runSet(packages, ['build-essential', 'libpq-dev', 'gone'])].sort()).toEqual(['libldap', 'libpq5', 'libssl3'])
  expect([...runSet(packages, ['imagemagick'])].sort()).toEqual(['imagemagick', 'libldap'])
})

test('what apt would fetch; a line of another form is no silence', () => {
  expect(parseFiles("'http://deb/x_1_amd64.deb' x_1_amd64.deb 12 SHA256:0a1b\nReading package lists...\n")).toEqual([
    { file: 'x_1_amd64.deb', bytes: 12, hash: 'SHA256:0a1b' },
  ])
  expect(() => parseFiles("'http://deb/x_1_amd64.deb' x_1_amd64.deb 12\n")).toThrow('another form')
})

test.each([
  [
    'E: Unable to locate package nosuch\nE: Unable to locate package other\n',
    'Debian 12 has no package nosuch, other: correct the name in Aptfile',
  ],
  ["E: Package 'java' has no installation candidate\n", 'Debian 12 has no package java'],
  [
    "W: Failed to fetch http://d/x  Could not resolve 'deb.debian.org'\nE: Some index files failed\n",
    "Debian's archive cannot be reached",
  ],
  [
    'E: Failed to fetch http://d/x.deb  401  Unauthorized [IP: 1.2.3.4 80]\n',
    "Debian's archive refuses the request (401 Unauthorized)",
  ],
  [
    'The following packages have unmet dependencies:\n a : Depends: b but it is not installable\nE: broken\n',
    'do not fit together: a : Depends: b',
  ],
  ['E: You don’t have enough free space\n', 'apt failed: You don’t have enough free space'],
])('%j is one sentence', (output, sentence) => {
  expect(failureOf(output)).toContain(sentence)
})

test('what the image of the app has in the same version is not taken again', () => {
  const status =
    'Package: libssl3\nStatus: install ok installed\nArchitecture: amd64\nVersion: 1:3.0\n\nPackage: jq\nStatus: x\nArchitecture: amd64\nVersion: 1\n\n'
  const file = (name: string): FetchedFile => ({ file: name, bytes: 1, hash: 'SHA256:0a' })
  const files = [file('libssl3_1%3a3.0_amd64.deb'), file('jq_2_amd64.deb')]
  expect(withoutInstalled(files, status)).toEqual([file('jq_2_amd64.deb')])
})

test('a machine without apt, and one that waits too long', () => {
  expect(failureOf('', { code: 'ENOENT', message: '' })).toContain('this builder has no apt')
  expect(failureOf('', { code: 'ETIMEDOUT', message: '' })).toContain('answers too slowly')
})

test('the failure is the last line of the log, and nothing was fetched', () => {
  const workshop = openWorkshop({ Aptfile: '--purge\n' })
  onTestFinished(workshop.remove)
  expect(workshop.detects('packages')).toBe(true)
  const { code, log } = workshop.build('packages')
  expect(code).toBe(1)
  expect(log.trim().split('\n').at(-1)).toBe(
    'sekisho/packages: error: Aptfile, line 1: "--purge" is an option of apt: write names of packages only',
  )
})

test('an Aptfile without packages does nothing', () => {
  const workshop = openWorkshop({ Aptfile: '# later\r\n' })
  onTestFinished(workshop.remove)
  expect(workshop.build('packages')).toMatchObject({ code: 0 })
})
