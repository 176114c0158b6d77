// `make demo`.
import { parseArgs } from 'node:util'
import { printUsage, runCommandLine } from '../cluster/command-line.ts'
import { runDemo } from './run.ts'

const usage = `usage: node dev/demo/main.ts [options]
  --main-job  only onboarding, a push that becomes a URL, and the access rules
`

await runCommandLine('demo', async args => {
  const options = { 'main-job': { type: 'boolean', default: false }, help: { type: 'boolean', default: false } } as const
  const { values } = parseArgs({ args, options })
  if (values.help) return printUsage(usage, true)
  await runDemo(values['main-job'] ? { only: 'main job' } : {})
  return 0
})
