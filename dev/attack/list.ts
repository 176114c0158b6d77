// All attacks, in the order in which they are reported.
import type { Attack } from './attack.ts'
import { kindAttacks } from './cluster/kinds.ts'
import { mountAttacks } from './cluster/mounts.ts'
import { secretReadAttacks } from './cluster/read-secrets.ts'
import { readAttacks } from './cluster/reads.ts'
import { rightsAttacks } from './cluster/rights.ts'
import { serviceAttacks } from './cluster/services.ts'

export const attacks: readonly Attack[] = [
  ...serviceAttacks,
  ...secretReadAttacks,
  ...mountAttacks,
  ...readAttacks,
  ...rightsAttacks,
  ...kindAttacks,
]
