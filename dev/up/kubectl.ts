// The kubectl calls of `make up`: apply, wait, read; always with the administrator's kubeconfig of the development cluster, or
// with the user's.
import { messageOf } from '../../src/lib/errors.ts'
import { Hopeless, waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { runCommand, tryCommand } from '../cluster/run-command.ts'

export type Kubectl = {
  /**
   * Server-side apply of a folder with a kustomization. It is retried as long as the API server does not know the parameters of
   * a policy that the same folder has made.
   */
  readonly applyFolder: (folder: string) => Promise<void>
  readonly applyText: (yaml: string) => Promise<void>
  /** Deletes the objects that exist, and waits until they are gone. */
  readonly deleteText: (yaml: string) => Promise<void>
  readonly run: (args: readonly string[], timeoutMilliseconds?: number) => Promise<string>
  /** Creates what the API server answers and does not keep, such as reviews; resolves to its answers as JSON. */
  readonly ask: (yaml: string) => Promise<string>
  /** The parsed object, or undefined when it is absent. */
  readonly read: (args: readonly string[]) => Promise<unknown>
}

/** Until then it refuses everything that such a policy is about: k8s.io/apiserver, pkg/admission/plugin/policy/generic. */
const withoutParameters = 'not yet synced to use for admission'
const applyMilliseconds = 120_000
const apply = ['apply', '--server-side', '--force-conflicts', '--field-manager=sekisho-up']

/** `kubeconfig` may be a list, as in KUBECONFIG. `extra` is for programs that a kubeconfig names to sign in. */
export function createKubectl(program: string, kubeconfig: string, extra: Readonly<Record<string, string>> = {}): Kubectl {
  const environment = { ...extra, KUBECONFIG: kubeconfig }
  const call = (args: readonly string[], timeoutMilliseconds: number, input = ''): Promise<string> =>
    runCommand(program, args, { environment, input, timeoutMilliseconds })
  return {
    applyFolder: async folder => {
      const applied = async (): Promise<true> => {
        try {
          await call([...apply, '-k', folder], applyMilliseconds)
          return true
        } catch (error) {
          if (messageOf(error).includes(withoutParameters)) throw error
          throw new Hopeless(messageOf(error), { cause: error })
        }
      }
      await waitUntil('the API server to know the parameters of its policies', applied, {
        timeoutMilliseconds: applyMilliseconds,
      })
    },
    applyText: async yaml => void (await call([...apply, '-f', '-'], 60_000, yaml)),
    deleteText: async yaml => void (await call(['delete', '--ignore-not-found', '-f', '-'], 120_000, yaml)),
    run: (args, timeoutMilliseconds = 60_000) => call(args, timeoutMilliseconds),
    // Validation in kubectl lists CustomResourceDefinitions, which not everybody may; the API server validates anyway.
    ask: yaml => call(['create', '--validate=false', '-f', '-', '-o', 'json'], 60_000, yaml),
    read: async args => {
      const result = await tryCommand(program, ['get', ...args, '-o', 'json', '--ignore-not-found'], { environment })
      if (result.code !== 0) throw new Error(result.errorOutput.trim())
      return result.output.trim() === '' ? undefined : JSON.parse(result.output)
    },
  }
}
