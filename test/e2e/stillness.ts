// Checks that no controller loops: for a while objects are not written, no Event is added or counted up, and controllers hardly
// reconcile.
import type { AdminClient } from '../../dev/cluster/control-plane/admin-client.ts'
import { platformPods } from '../../dev/up/platform-pods.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { eventsAbout, read } from './objects.ts'

type Snapshot = Readonly<Record<string, string>>

async function snapshot(admin: AdminClient, references: readonly string[]): Promise<Snapshot> {
  const rows = await Promise.all(
    references.map(async reference => {
      const { metadata } = await read(admin, reference)
      const events = (await eventsAbout(admin, metadata.uid)).reduce((sum, event) => sum + event.count, 0)
      return [reference, `resourceVersion ${metadata.resourceVersion}, ${events} Events`] as const
    }),
  )
  return Object.fromEntries(rows)
}

/** The number of reconciles so far, by controller, from the platform's own metrics. */
export async function reconciles(admin: AdminClient): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>()
  for (const { name } of await platformPods(admin)) {
    const path = `/api/v1/namespaces/sekisho-system/pods/${name}:8090/proxy/metrics`
    const text = String(await admin.call('GET', path))
    for (const [, controller = '', value] of text.matchAll(
      /^controller_runtime_reconcile_total\{controller="([^"]+)"[^}]*\} (\d+)/gm,
    ))
      counts.set(controller, (counts.get(controller) ?? 0) + Number(value))
  }
  if (counts.size === 0) throw new Error('the platform shows no controller_runtime_reconcile_total')
  return counts
}

/** Events are written behind the status that they are about, on a busy machine seconds later. */
async function settled(admin: AdminClient, references: readonly string[]): Promise<Snapshot> {
  let last = await snapshot(admin, references)
  let since = performance.now()
  return waitUntil('nothing to change for a second', async () => {
    const now = await snapshot(admin, references)
    if (references.some(reference => now[reference] !== last[reference])) since = performance.now()
    last = now
    return performance.now() - since > 1000 ? now : undefined
  })
}

/** Throws at the first object that changes within `seconds`, or when a controller reconciles more often than `maxReconciles`. */
export async function expectStillness(
  admin: AdminClient,
  references: readonly string[],
  seconds: number,
  maxReconciles: number,
): Promise<void> {
  const before = await settled(admin, references)
  const worked = await reconciles(admin)
  const deadline = performance.now() + seconds * 1000
  while (performance.now() < deadline) {
    const now = await snapshot(admin, references)
    for (const reference of references)
      if (now[reference] !== before[reference])
        throw new Error(`${reference} does not stay still: ${before[reference]}, then ${now[reference]}`)
    await new Promise(resolve => setTimeout(resolve, 500))
  }
  for (const [controller, count] of await reconciles(admin)) {
    const done = count - (worked.get(controller) ?? 0)
    if (done > maxReconciles) throw new Error(`controller ${controller} reconciled ${done} times within ${seconds} s`)
  }
}
