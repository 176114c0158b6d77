// What follows the branches of a repository, as the RemoteSync controller does and with nothing of its builds: woken by the annotation or its
// own change, it looks at where the branch is now and notes one effect when that is new. GitHub's truth is a map that the test moves.
import { installation } from '../../../src/api/installation.ts'
import { remoteSync } from '../../../src/api/remote-sync.ts'
import type { KubeClient } from '../../../src/kube/client/client.ts'
import { done } from '../../../src/kube/controller/controller.ts'
import { createManager } from '../../../src/kube/manager.ts'
import { mergeConditions } from '../../../src/kube/object/conditions.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { silentLog } from '../../../src/lib/log.ts'

export type FollowedBranches = {
  /** Where GitHub says that a branch is. */
  readonly heads: Map<string, string>
  /** `branch@head` of every effect, in order. */
  readonly effects: readonly string[]
  /** Branches whose last effect is not where they are. */
  readonly behind: () => readonly string[]
  readonly stop: () => Promise<void>
}

type Options = {
  readonly kube: KubeClient
  readonly namespace: string
  readonly host: string
  readonly account: { readonly id: number; readonly login: string }
  readonly installationId: number
  readonly branches: readonly string[]
}

const fieldManager = { fieldManager: 'test', force: true } as const

export async function followBranches(options: Options): Promise<FollowedBranches> {
  const { kube, namespace, host, account, branches } = options
  await kube.apply(
    installation,
    {
      apiVersion: installation.apiVersion,
      kind: installation.kind,
      metadata: { namespace, name: 'github' },
      spec: {
        app: 'sekisho',
        installationId: options.installationId,
        account: { host, ...account, type: 'Organization' },
        boundBy: { id: 1001, login: 'olivia' },
        proof: { method: 'OrganizationOwner', provedAt: '2026-01-01T00:00:00Z' },
        ceiling: { repositories: 'All', permissions: { contents: 'read' } },
      },
    },
    fieldManager,
  )
  const conditions = mergeConditions([], [{ type: 'Ready', status: 'True', reason: 'Test', message: '' }], 1, new Date())
  const named = { apiVersion: installation.apiVersion, kind: installation.kind, metadata: { namespace, name: 'github' } }
  await kube.applyStatus(installation, { ...named, status: { conditions } }, fieldManager)
  for (const branch of branches)
    await kube.apply(
      remoteSync,
      {
        apiVersion: remoteSync.apiVersion,
        kind: remoteSync.kind,
        metadata: { namespace, name: branch },
        spec: {
          installation: 'github',
          repository: `${account.login}/shop`,
          source: { branch },
          build: { strategy: 'Buildpacks', timeoutSeconds: 900 },
          application: 'shop',
          requestedBy: `github|${host}|1001`,
        },
      },
      fieldManager,
    )
  const heads = new Map<string, string>()
  const effects: string[] = []
  const last = new Map<string, string>()
  const manager = createManager({ client: kube, log: silentLog, clock: systemClock, random: Math.random })
  manager.add({
    name: 'followed-branches',
    for: remoteSync,
    concurrency: 8,
    reconcile: async ({ key }) => {
      const head = heads.get(key.name)
      if (key.namespace !== namespace || head === undefined || last.get(key.name) === head) return done
      last.set(key.name, head)
      effects.push(`${key.name}@${head}`)
      return done
    },
  })
  await manager.start()
  return {
    heads,
    effects,
    behind: () => [...heads].flatMap(([branch, head]) => (last.get(branch) === head ? [] : [branch])),
    stop: manager.stop,
  }
}
