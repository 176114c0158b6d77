// `make demo`.
import { runCommandLine } from '../cluster/command-line.ts'
import { runDemo } from './run.ts'

await runCommandLine('demo', async () => {
  await runDemo()
  return 0
})
