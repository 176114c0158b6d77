// Fails when a source file is longer than 300 lines or a test longer than 600; prints the median so that growth is seen.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')
const limits = { source: 300, test: 600 }

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.ts'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter(path => path !== '' && !path.includes('/generated/'))
const sizes = files.flatMap(path => {
  try {
    return [{ path, test: path.endsWith('.test.ts'), lines: readFileSync(join(root, path), 'utf8').split('\n').length - 1 }]
  } catch {
    return [] // deleted in the working tree, not yet in the index
  }
})
const sources = sizes
  .filter(file => !file.test && file.path.startsWith('src/'))
  .map(file => file.lines)
  .sort((a, b) => a - b)
const tooLong = sizes.filter(file => file.lines > (file.test ? limits.test : limits.source))

for (const file of tooLong)
  console.error(`${file.path}: ${file.lines} lines; the limit is ${file.test ? limits.test : limits.source}: find its seams`)
console.log(
  `${sizes.length} files; src: ${sources.length} files, median ${sources[Math.floor(sources.length / 2)] ?? 0} lines, longest ${sources.at(-1) ?? 0}`,
)
if (tooLong.length > 0) process.exit(1)
