// The kubectl calls of the installer: read, apply, wait. Objects are passed on standard input, never as arguments.
import { defined } from '../../src/lib/json/defined.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import type { RunCommand } from '../cluster/run-command.ts'
import { isReady, readyMessage } from './installation-decision.ts'
import type { KubernetesObject } from './kubernetes-object.ts'

export type Kubectl = {
  /** The named objects that exist, by `TYPE/NAME`. A type that the cluster does not know has no objects. */
  readonly read: (names: readonly string[], namespace?: string) => Promise<readonly KubernetesObject[]>
  /** Server-side apply: fields that kpack sets itself (certificates, rules) stay as they are. */
  readonly apply: (objects: readonly KubernetesObject[]) => Promise<void>
  readonly run: (parameters: readonly string[]) => Promise<string>
  /** Resolves to the objects when all of them are ready. */
  readonly waitReady: (names: readonly string[], timeoutSeconds: number) => Promise<readonly KubernetesObject[]>
}

export type KubectlDeps = { readonly run: RunCommand; readonly program: string; readonly kubeconfig: string }

const maxCallMilliseconds = 300_000

export function createKubectl({ run, program, kubeconfig }: KubectlDeps): Kubectl {
  const call = (parameters: readonly string[], input?: string): Promise<string> =>
    run(program, parameters, {
      // Not as an argument: KUBECONFIG may be a list.
      environment: { KUBECONFIG: kubeconfig },
      timeoutMilliseconds: maxCallMilliseconds,
      ...defined({ input }),
    })

  const read: Kubectl['read'] = async (names, namespace) => {
    const scope = namespace === undefined ? [] : ['-n', namespace]
    const text = await call(['get', ...names, ...scope, '--ignore-not-found', '-o', 'json']).catch((error: unknown) => {
      if (error instanceof Error && error.message.includes("the server doesn't have a resource type")) return ''
      throw error
    })
    if (text.trim() === '') return []
    // kubectl prints one object, or a List of several.
    const answer = JSON.parse(text) as KubernetesObject & { readonly items?: readonly KubernetesObject[] }
    return answer.items ?? [answer]
  }

  return {
    read,
    run: call,
    async apply(objects) {
      const list = { apiVersion: 'v1', kind: 'List', items: objects }
      await call(['apply', '--server-side', '--force-conflicts', '--field-manager=sekisho-dev', '-f', '-'], JSON.stringify(list))
    },
    async waitReady(names, timeoutSeconds) {
      return waitUntil(
        `${names.join(', ')} to be ready`,
        async () => {
          const objects = await read(names)
          const waiting = objects.filter(object => !isReady(object))
          if (waiting.length > 0) throw new Error(waiting.map(readyMessage).join('; '))
          return objects.length === names.length ? objects : undefined
        },
        { timeoutMilliseconds: timeoutSeconds * 1000 },
      )
    },
  }
}
