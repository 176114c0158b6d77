// Bench `command-line`: how long a person waits for `sekisho`, and what its credential plugin adds to each command of kubectl.
import { join } from 'node:path'
import { catalog } from '../../../dev/cluster/binaries/catalog.ts'
import { ensureBinary } from '../../../dev/cluster/binaries/ensure-binary.ts'
import { createProgress } from '../../../dev/cluster/progress.ts'
import { readClusterSettings } from '../../../dev/cluster/settings.ts'
import type { Bench, Comparison, OpenBench } from '../harness/bench.ts'
import { oursAbovePeerAtMost, oursAtMost } from '../harness/goals.ts'
import { figureNames } from '../harness/summarize.ts'
import { startFixture } from '../reconcile/fixture.ts'
import { installCommandLine } from './installed.ts'
import { makePerson, type Person } from './person.ts'
import { type Command, timedRuns } from './timed-runs.ts'

const runs = 20

type Programs = { readonly sekisho: string; readonly kubectl: string }

/** Which commands are compared, for a person. */
function commandsOf({ sekisho, kubectl }: Programs, { environment, kubeconfigs }: Person) {
  const get = (kubeconfig: string): Command => {
    const args = ['--kubeconfig', kubeconfig, 'get', 'configmap', 'person', '-o', 'name']
    return { path: kubectl, args, environment }
  }
  return {
    help: { path: sekisho, args: ['--help'], environment },
    kubectlHelp: { path: kubectl, args: ['--help'], environment },
    getWithPlugin: get(kubeconfigs.plugin),
    getWithToken: get(kubeconfigs.token),
    credential: { path: sekisho, args: ['token', '--issuer', 'https://sekisho.example.test'], environment },
    emptyProgram: { path: process.execPath, args: ['-e', 'console.log()'], environment },
  }
}

function comparisonsOf(commands: ReturnType<typeof commandsOf>, count: number): readonly Comparison[] {
  const timed = (command: Command) => (signal: AbortSignal) => timedRuns(command, count, signal)
  return [
    {
      name: 'help',
      title: '`sekisho --help` from start to end: the bundle with its compile cache, started by bin/sekisho',
      unit: 'runs',
      peerName:
        '`kubectl --help` of the pinned version (one program with the other programs of Kubernetes where it was built here)',
      ours: timed(commands.help),
      peer: timed(commands.kubectlHelp),
      goals: [oursAtMost(figureNames.p50, 150)],
    },
    {
      name: 'kubectl get with the plugin',
      title: '`kubectl get configmap` on a real API server, with `sekisho token` as credential plugin',
      unit: 'runs',
      peerName: 'the same with the same token in the kubeconfig',
      ours: timed(commands.getWithPlugin),
      peer: timed(commands.getWithToken),
      goals: [oursAbovePeerAtMost(figureNames.p50, 100)],
    },
    {
      name: 'the plugin alone',
      title: '`sekisho token`, which kubectl starts for each command',
      unit: 'runs',
      peerName: 'the same Node.js with a program of one line',
      ours: timed(commands.credential),
      peer: timed(commands.emptyProgram),
      goals: [],
    },
  ]
}

export const commandLine: Bench = {
  name: 'command-line',
  title: `the command line: ${runs} runs of each command, one after the other`,
  budgetSeconds: 420,
  async open({ note, scale, folder }): Promise<OpenBench> {
    const settings = readClusterSettings()
    const deps = { settings, progress: createProgress(line => note(line.trim())) }
    const kubernetes = await ensureBinary(catalog.kubernetes, deps)
    const sekisho = await installCommandLine(join(folder, 'installed'), settings.repository)
    const { admin, kubeconfig, close } = await startFixture(note)
    try {
      const person = await makePerson({ admin, kubeconfig, folder, sekisho })
      const commands = commandsOf({ sekisho, kubectl: kubernetes.path('kubectl') }, person)
      return { comparisons: comparisonsOf(commands, Math.max(3, Math.round(runs * scale))), close }
    } catch (error) {
      await close()
      throw error
    }
  },
}
