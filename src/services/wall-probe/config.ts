// The settings of the wall probe.
import { integerSetting } from '../../lib/config.ts'

export const wallProbeSettings = {
  wallProbeSeconds: integerSetting(
    'SEKISHO_WALL_PROBE_SECONDS',
    'the seconds between two looks at the walls of docs/reference/walls.md; a wall that is switched off is reported within this time',
    { minimum: 10, maximum: 600, default: '120' },
  ),
} as const
