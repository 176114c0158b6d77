// Watches a kind from now on, for as long as a bench runs: a watch that ends is resumed where it ended.
import type { KubeObject, ResourceType } from '../../../src/api/resource.ts'
import type { KubeClient, WatchEvent } from '../../../src/kube/client/client.ts'

type Scope = { readonly namespace?: string; readonly labelSelector?: string }
export type Seen<T extends KubeObject> = Exclude<WatchEvent<T>, { type: 'BOOKMARK' }>

export type Follower = {
  /** Rejects when the cluster does not answer. `see` is not awaited: events do not wait for each other. */
  readonly follow: <T extends KubeObject>(
    type: ResourceType<T>,
    scope: Scope,
    see: (event: Seen<T>) => Promise<void> | void,
  ) => Promise<void>
  /** Throws the first error of a watch or of `see`. */
  readonly check: () => void
  /** Ends all watches. */
  readonly end: () => Promise<void>
}

export function createFollower(client: KubeClient): Follower {
  const over = new AbortController()
  const watches: Promise<void>[] = []
  let problem: unknown
  const fail = (error: unknown): void => {
    if (!over.signal.aborted) problem ??= error
  }
  return {
    async follow(type, scope, see) {
      let { resourceVersion } = await client.snapshot(type, scope)
      const watching = async (): Promise<void> => {
        while (!over.signal.aborted)
          for await (const event of client.watch(type, { ...scope, resourceVersion, signal: over.signal })) {
            resourceVersion = event.resourceVersion
            if (event.type !== 'BOOKMARK') void Promise.resolve(see(event)).catch(fail)
          }
      }
      watches.push(watching().catch(fail))
    },
    check() {
      if (problem !== undefined) throw problem
    },
    async end() {
      over.abort('closed')
      await Promise.all(watches)
    },
  }
}
