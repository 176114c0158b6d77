// The surroundings of the bench: a control plane of its own, PostgreSQL, and GitHub with the limits that it documents, by the
// clock of the present run.
import { randomBytes } from 'node:crypto'
import type { AdminClient } from '../../../dev/cluster/control-plane/admin-client.ts'
import type { RunningEmulator } from '../../../dev/github/emulator.ts'
import { startStockedEmulator } from '../../../dev/github/testing/stocked-emulator.ts'
import type { Clock } from '../../../src/lib/clock.ts'
import { openClosing } from '../../fixtures/open-closing.ts'
import { createQuickClock } from '../../fixtures/quick-clock.ts'
import { type BenchDatabases, serverDatabases } from '../load/databases.ts'
import { startFixture } from '../reconcile/fixture.ts'
import { applyBenchApp } from '../token-endpoint/world.ts'
import { inCluster, onGitHub, spreadChecks } from './accounts.ts'

export type World = {
  readonly admin: AdminClient
  readonly github: RunningEmulator
  readonly databases: BenchDatabases
  readonly environment: Readonly<Record<string, string>>
  /** So many accounts are there, none of which was checked just now. */
  readonly grow: (count: number) => Promise<void>
  /** That of GitHub from now on: it begins where the one before is. */
  readonly nextClock: () => Clock
  readonly close: () => Promise<void>
}

/** GitHub's own limits, as it documents them. */
const rateLimit = { authenticated: 5000, anonymous: 60, enforced: true, secondary: {} } as const
/** After a run GitHub's limits of its hour count no more in the next. */
const betweenRuns = 3_700_000

/** `rate`: how many times as fast as time clocks run. */
export async function openWorld(rate: number, note: (message: string) => void): Promise<World> {
  return openClosing(async onClose => {
    const { admin, kubeconfig, close: stop } = await startFixture(note)
    onClose(stop)
    const databases = await serverDatabases()
    onClose(databases.close)
    let clock: Pick<Clock, 'now'> = { now: () => new Date() }
    const github = await startStockedEmulator({ rateLimit, now: () => clock.now().getTime() })
    onClose(github.stop)
    await applyBenchApp(admin, github)
    let accounts = 0
    return {
      ...{ admin, github, databases },
      environment: { KUBECONFIG: kubeconfig, SEKISHO_SEALING_KEYS: randomBytes(32).toString('base64') },
      async grow(count) {
        onGitHub(github, accounts, count)
        await inCluster({ admin, github }, accounts, count)
        accounts = count
        const stopped = clock.now().getTime()
        clock = { now: () => new Date(stopped + betweenRuns) }
        await spreadChecks({ admin }, clock.now().getTime())
        note(`${accounts} accounts have an Installation and grants`)
      },
      nextClock() {
        const quick = createQuickClock(rate, clock.now().getTime() - Date.now())
        clock = quick
        return quick
      },
    }
  })
}
