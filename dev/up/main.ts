// `make up`, `make down`, `make dev`: brings up Kubernetes, GitHub, builds and the platform in the order in which they need
// each other. Every step is idempotent: on a running platform `up` takes seconds and changes only what differs.
import { parseArgs } from 'node:util'
import { processEnvironment } from '../../src/lib/config.ts'
import { AppError } from '../../src/lib/errors.ts'
import { print, printUsage, runCommandLine } from '../cluster/command-line.ts'
import { down as clusterDown } from '../cluster/down.ts'
import { standardErrorProgress } from '../cluster/progress.ts'
import { readClusterSettings } from '../cluster/settings.ts'
import { up as clusterUp } from '../cluster/up.ts'
import { runDevelopment } from './development.ts'
import { givenClusterDown, givenClusterUp } from './given-cluster/bring-up.ts'
import { askedMode } from './mode.ts'
import { forgetLocalState, platformUp } from './platform.ts'
import { printWelcome } from './welcome.ts'

const usage = `usage: [MODE=standalone|production] node dev/up/main.ts <command>
  up [--no-demo]  start everything, run the demo, print what to try next; MODE replaces the form that runs, standalone is the first one
  up [--dry-run]  with KUBECONFIG: the platform on that cluster, or everything that it lacks; --dry-run only reads and prints the plan
  dev             run the platform on this host in watch mode against the running cluster
  down            stop everything and undo the changes to this host
`

async function run(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { 'no-demo': { type: 'boolean', default: false }, 'dry-run': { type: 'boolean', default: false } },
  })
  const settings = readClusterSettings()
  const progress = standardErrorProgress()
  switch (positionals[0]) {
    case 'up': {
      const asked = askedMode(processEnvironment()['MODE'])
      const dryRun = values['dry-run']
      if (settings.givenKubeconfig !== undefined) {
        const kubeconfig = await clusterUp({ settings, progress, controlPlaneOnly: false })
        print(await givenClusterUp({ settings, kubeconfig, progress, asked, dryRun }))
        return 0
      }
      if (dryRun) throw new AppError('invalid_request', '--dry-run is for a cluster of your own: set KUBECONFIG')
      const mode = await platformUp(settings, progress, asked)
      if (!values['no-demo']) await import('../demo/run.ts').then(demo => demo.runDemo())
      await printWelcome(settings, mode)
      return 0
    }
    case 'dev':
      return runDevelopment(settings, progress)
    case 'down':
      await clusterDown({ settings, progress, keepState: false })
      // What is on this machine belongs to the local cluster, which was not stopped.
      if (settings.givenKubeconfig !== undefined) await givenClusterDown(settings)
      else await forgetLocalState(settings)
      return 0
    default:
      return printUsage(usage)
  }
}

await runCommandLine('up', run)
