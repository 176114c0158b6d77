// Fails when a file of tests sleeps, waits in another way than waitUntil, or asserts that a duration is short, unless it is
// one of the exceptions.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { exceptions } from './waiting-exceptions.ts'
import { findingsOf } from './waiting-rules.ts'

const root = join(import.meta.dirname, '../..')
const patterns = ['*.test.ts', 'test/**/*.ts', 'src/**/testing/*.ts', 'dev/**/testing/*.ts']
/** A file without any of these words has no finding. */
const words = /\bsetTimeout\b|node:timers|\.sleep\(|\bwaitUntil\(|\bvi\s*\.\s*wait|\.poll\(|toBeLessThan/

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', ...patterns], {
  cwd: root,
  encoding: 'utf8',
})
const paths = [...new Set(files.split('\n'))].filter(path => path !== '' && existsSync(join(root, path)))
const used = new Set<string>()
const problems = paths.flatMap(path => {
  const text = readFileSync(join(root, path), 'utf8')
  if (!words.test(text)) return []
  return findingsOf(path, text).flatMap(({ line, rule, cure }) => {
    const allowed = exceptions.find(one => one.rules.includes(rule) && isMeant(one.path, path))
    if (allowed === undefined) return [`${path}:${line}: ${rule}: ${cure}`]
    used.add(`${allowed.path} ${rule}`)
    return []
  })
})
const unused = exceptions
  .filter(({ path }) => !path.endsWith('/'))
  .flatMap(({ path, rules }) =>
    rules
      .filter(rule => !used.has(`${path} ${rule}`))
      .map(rule => `dev/check/waiting-exceptions.ts: ${path} has no ${rule}: take it out of the list`),
  )

for (const problem of [...problems, ...unused]) console.error(problem)
console.log(`${paths.length} files of tests, ${exceptions.length} exceptions`)
if (problems.length + unused.length > 0) process.exit(1)

function isMeant(exception: string, path: string): boolean {
  return exception.endsWith('/') ? path.startsWith(exception) : path === exception
}
