// The kubectl calls of `make up`: apply, wait, read; always with the administrator's kubeconfig of the development cluster.
import { runCommand, tryCommand } from '../cluster/run-command.ts'

export type Kubectl = {
  /** Server-side apply of a folder with a kustomization. */
  readonly applyFolder: (folder: string) => Promise<void>
  readonly applyText: (yaml: string) => Promise<void>
  readonly run: (args: readonly string[], timeoutMilliseconds?: number) => Promise<string>
  /** The parsed object, or undefined when it is absent. */
  readonly read: (args: readonly string[]) => Promise<unknown>
}

const apply = ['apply', '--server-side', '--force-conflicts', '--field-manager=sekisho-up']

export function createKubectl(program: string, kubeconfig: string): Kubectl {
  const base = ['--kubeconfig', kubeconfig]
  return {
    applyFolder: async folder => {
      await runCommand(program, [...base, ...apply, '-k', folder], { timeoutMilliseconds: 120_000 })
    },
    applyText: async yaml => {
      await runCommand(program, [...base, ...apply, '-f', '-'], { input: yaml, timeoutMilliseconds: 60_000 })
    },
    run: (args, timeoutMilliseconds = 60_000) => runCommand(program, [...base, ...args], { timeoutMilliseconds }),
    read: async args => {
      const result = await tryCommand(program, [...base, 'get', ...args, '-o', 'json', '--ignore-not-found'])
      if (result.code !== 0) throw new Error(result.errorOutput.trim())
      return result.output.trim() === '' ? undefined : JSON.parse(result.output)
    },
  }
}
