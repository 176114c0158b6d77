// `make up`, `make down`, `make dev`: brings up Kubernetes, GitHub, builds and the platform in the order in which they need each other.
// Every step is idempotent: on a running platform `up` takes seconds and changes only what differs.
import { parseArgs } from 'node:util'
import { printUsage, runCommandLine } from '../cluster/command-line.ts'
import { down as clusterDown } from '../cluster/down.ts'
import { standardErrorProgress } from '../cluster/progress.ts'
import { readClusterSettings } from '../cluster/settings.ts'
import { runDevelopment } from './development.ts'
import { forgetLocalState, platformUp } from './platform.ts'
import { printWelcome } from './welcome.ts'

const usage = `usage: node dev/up/main.ts <command>
  up [--no-demo]  start everything, run the demo, print what to try next
  dev             run the platform on this host in watch mode against the running cluster
  down            stop everything and undo the changes to this host
`

async function run(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { 'no-demo': { type: 'boolean', default: false } },
  })
  const settings = readClusterSettings()
  const progress = standardErrorProgress()
  switch (positionals[0]) {
    case 'up': {
      await platformUp(settings, progress)
      if (!values['no-demo']) await import('../demo/run.ts').then(demo => demo.runDemo())
      await printWelcome(settings)
      return 0
    }
    case 'dev':
      return runDevelopment(settings, progress)
    case 'down':
      await clusterDown({ settings, progress, keepState: false })
      await forgetLocalState(settings)
      return 0
    default:
      return printUsage(usage)
  }
}

await runCommandLine('up', run)
