// Fails when a source file is longer than 300 lines or a test longer than 600, when a folder of src or dev holds more than 12
// files (tests and `testing/` aside), when a folder exceeds its budget of lines, and when a comment is wider than code may be.
// Prints the median so that growth is visible.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { memoryLines } from '../generate/memory/memory-blocks.ts'

const root = join(import.meta.dirname, '../..')
const limits = { source: 300, test: 600, filesInFolder: 12, commentWidth: 130 }
/** A line that is a comment, and has no URL, which cannot be broken. */
const comment = /^\s*(\/\/|\* |\/\*\*)(?!.*https?:)/
/**
 * Most lines of a whole folder, comments and blank lines included; tests, `testing/` and memory blocks, which generate a
 * reference page, excluded.
 */
const budgets = [{ folder: 'src/kube/', lines: 2730, contract: 'src/kube/README.md' }]

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.ts'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter(path => path !== '' && !path.includes('/generated/'))
const sizes = files.flatMap(path => {
  try {
    const text = readFileSync(join(root, path), 'utf8')
    const lines = text.split('\n').length - 1
    const wide = text.split('\n').findIndex(line => line.length > limits.commentWidth && comment.test(line)) + 1
    return [{ path, test: path.endsWith('.test.ts'), lines, wide, budgeted: lines - memoryLines(text) }]
  } catch {
    return [] // Deleted in the working tree, but not yet in the index.
  }
})
const sources = sizes
  .filter(file => !file.test && file.path.startsWith('src/'))
  .map(file => file.lines)
  .sort((a, b) => a - b)
const tooLong = sizes
  .filter(file => file.lines > (file.test ? limits.test : limits.source))
  .map(
    ({ path, test, lines }) => `${path}: ${lines} lines; the limit is ${test ? limits.test : limits.source}: split it by ideas`,
  )
const folders = budgets.map(budget => {
  const parts = sizes.filter(({ path, test }) => !test && path.startsWith(budget.folder) && !path.includes('/testing/'))
  return { ...budget, size: parts.reduce((sum, { budgeted }) => sum + budgeted, 0) }
})
const overBudget = folders
  .filter(({ lines, size }) => size > lines)
  .map(
    ({ folder, lines, size, contract }) =>
      `${folder}: ${size} lines without tests; its budget is ${lines} (${contract}): remove what is not needed, or move what does not depend on it`,
  )
const filesIn = new Map<string, number>()
for (const { path, test } of sizes)
  if (!test && !path.startsWith('test/') && !path.includes('/testing/'))
    filesIn.set(dirname(path), (filesIn.get(dirname(path)) ?? 0) + 1)
const crowded = [...filesIn]
  .filter(([, count]) => count > limits.filesInFolder)
  .map(
    ([folder, count]) =>
      `${folder}: ${count} files; the limit is ${limits.filesInFolder}: move files that belong together into a folder`,
  )

const tooWide = sizes
  .filter(({ wide }) => wide > 0)
  .map(({ path, wide }) => `${path}:${wide}: a comment is wider than ${limits.commentWidth} characters: break the line`)

const problems = [...tooLong, ...crowded, ...overBudget, ...tooWide]
for (const problem of problems) console.error(problem)
console.log(
  `${sizes.length} files; src: ${sources.length} files, median ${sources[Math.floor(sources.length / 2)] ?? 0} lines, longest ${sources.at(-1) ?? 0}`,
)
for (const { folder, lines, size } of folders) console.log(`${folder}: ${size} lines of ${lines}`)
if (problems.length > 0) process.exit(1)
