// `make demo`.
import { messageOf } from '../../src/lib/errors.ts'
import { runDemo } from './run.ts'

try {
  await runDemo()
} catch (error) {
  console.error(`demo: ${messageOf(error)}`)
  process.exitCode = 1
}
