// The command line of the local cluster: up, build, gvisor, down, status, doctor, test-server, env. Progress goes to standard
// error, results to standard output.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ensureAll } from './binaries/ensure-all.ts'
import { print, printUsage, runCommandLine } from './command-line.ts'
import { adminClientFor } from './control-plane/admin-client.ts'
import { gatherFacts } from './doctor/gather.ts'
import { findings, findingsTable } from './doctor/requirements.ts'
import { down } from './down.ts'
import { environmentLines } from './environment.ts'
import { addGvisor } from './node/runtime/gvisor.ts'
import { standardErrorProgress } from './progress.ts'
import { adminKubeconfig, readClusterSettings } from './settings.ts'
import { clusterStatus, statusText } from './status.ts'
import { up } from './up.ts'

const usage = `usage: node dev/cluster/main.ts <command>
  up [--control-plane-only]  start the local Kubernetes; on a running cluster, check and repair it
  build                      fetch or build every program that it needs into the cache; starts nothing
  gvisor                     let pods of the running cluster use gVisor, by the RuntimeClass gvisor
  down [--keep-state]        stop it and undo its changes to this host
  status [--json]            show what is running
  doctor [--json]            check this machine for what is needed and show how to install it
  test-server [--stop]       keep a control plane for the integration tests of this checkout, which ends after two idle hours
  env                        print export lines for a shell: eval "$(node dev/cluster/main.ts env)"
`

async function run(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      'control-plane-only': { type: 'boolean', default: false },
      'keep-state': { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      stop: { type: 'boolean', default: false },
    },
  })
  const [command] = positionals
  const settings = readClusterSettings()
  const progress = standardErrorProgress()
  switch (command) {
    case 'up': {
      const kubeconfig = await progress.step('cluster up', () =>
        up({ settings, progress, controlPlaneOnly: values['control-plane-only'] }),
      )
      print(`${kubeconfig}\n`)
      return 0
    }
    case 'build':
      await progress.step('programs of the cluster', () => ensureAll({ settings, progress }))
      return 0
    case 'gvisor': {
      const client = await adminClientFor(adminKubeconfig(settings))
      await progress.step('gVisor', () => addGvisor({ settings, progress }, client)).finally(client.close)
      print('RuntimeClass gvisor\n')
      return 0
    }
    case 'down':
      await progress.step('cluster down', () => down({ settings, progress, keepState: values['keep-state'] }))
      return 0
    case 'status': {
      const status = await clusterStatus(settings)
      print(values.json ? `${JSON.stringify(status, null, 2)}\n` : statusText(status))
      return status.apiServer ? 0 : 1
    }
    case 'doctor': {
      const rows = findings(await gatherFacts(settings))
      print(values.json ? `${JSON.stringify(rows, null, 2)}\n` : findingsTable(rows))
      return rows.some(row => row.state === 'missing') ? 1 : 0
    }
    case 'test-server':
      // The tests know what must be on it: a program of theirs keeps it.
      return runToEnd(process.execPath, [join(settings.repository, 'test/server/main.ts'), values.stop ? 'stop' : 'start'])
    case 'env':
      print(await environmentLines(settings))
      return 0
    default:
      return printUsage(usage)
  }
}

/** Runs a program with our input and output; resolves to its exit code. */
async function runToEnd(program: string, args: readonly string[]): Promise<number> {
  const [code] = (await once(spawn(program, args, { stdio: 'inherit' }), 'exit')) as [number | null]
  return code ?? 1
}

await runCommandLine('cluster', run)
