// The reference pages that are generated from the code of the product, by their path in the repository.
import type { MemoryState } from '../memory/memory-blocks.ts'
import { exemptionsPage } from './admission/exemptions.ts'
import { wallsPage } from './admission/walls.ts'
import { attacksPage } from './attacks.ts'
import { auditEventsPage } from './audit-events.ts'
import { cliPage } from './cli.ts'
import { environmentPage } from './environment.ts'
import { errorsPage } from './errors.ts'
import { kindsPage } from './kinds.ts'
import { memoryPage } from './memory.ts'
import { metricsPage } from './metrics.ts'
import { nodeLimitsPage } from './node-limits.ts'
import { rightsPage } from './rights.ts'

export type Repository = {
  /** Reads a file by its path. */
  readonly read: (path: string) => string
  /** What the product keeps in memory (`memoryOf`). */
  readonly memory: readonly MemoryState[]
  /** The names of the files in docs/adr. */
  readonly adrs: readonly string[]
}

/** All pages. */
export function referencePages({ read, memory, adrs }: Repository): ReadonlyMap<string, string> {
  return new Map([
    ['docs/reference/kinds.md', kindsPage(read)],
    ['docs/reference/environment.md', environmentPage()],
    ['docs/reference/errors.md', errorsPage()],
    ['docs/reference/metrics.md', metricsPage()],
    ['docs/reference/audit-events.md', auditEventsPage()],
    ['docs/reference/cli.md', cliPage()],
    ['docs/reference/attacks.md', attacksPage()],
    ['docs/reference/rights.md', rightsPage()],
    ['docs/reference/exemptions.md', exemptionsPage()],
    ['docs/reference/memory.md', memoryPage(memory, adrs)],
    ['docs/reference/node-limits.md', nodeLimitsPage()],
    ['docs/reference/walls.md', wallsPage()],
  ])
}
