// Whether each wall holds, for metrics.
import { Gauge, type Registry } from 'prom-client'
import { wallsOff } from './finding.ts'
import type { WallRecord } from './record.ts'
import { walls } from './walls.ts'

/** What the leader knows; undefined on other replicas, and before the first round. */
export type Known = WallRecord & { readonly at: Date }

/** Call once per registry. */
export function createWallMetrics(registry: Registry, known: () => Known | undefined): void {
  new Gauge({
    name: 'sekisho_wall_holds',
    help: '1 when the wall was found to hold, 0 when it is off, NaN while it is not known. Reported by the leader; docs/reference/walls.md describes each wall.',
    labelNames: ['wall'],
    registers: [registry],
    collect() {
      this.reset()
      const now = known()
      if (now === undefined) return
      const off = wallsOff(now.findings)
      for (const { name } of walls) {
        const unknown = now.findings.some(({ wall, verdict }) => wall === name && verdict === 'Unknown')
        this.set({ wall: name }, off.has(name) ? 0 : unknown ? Number.NaN : 1)
      }
    },
  })
  new Gauge({
    name: 'sekisho_walls_probed_timestamp_seconds',
    help: 'When the leader last looked at the walls, in seconds since 1970. Reported by the leader.',
    registers: [registry],
    collect() {
      this.reset()
      const now = known()
      if (now === undefined) this.remove()
      else this.set(now.at.getTime() / 1000)
    },
  })
}
