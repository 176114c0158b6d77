// The signed statements that the platform keeps outside of its database, and the keys of all of them, as the platform says.
import type { CheckpointKeys } from '../../../../identity/oidc/audit-checkpoint.ts'
import { asObject, listAt } from '../../../../lib/json/json-value.ts'
import type { PlatformApi } from '../../../platform-api.ts'

export type PlatformCheckpoints = {
  readonly statements: readonly string[]
  readonly acknowledgements: readonly string[]
  readonly keys: CheckpointKeys
}

const isText = (value: unknown): value is string => typeof value === 'string'

export async function platformCheckpoints(api: PlatformApi): Promise<PlatformCheckpoints> {
  const answer = asObject(await api.json('/api/v1/audit/checkpoints'))
  return {
    statements: listAt(answer, 'statements').filter(isText),
    acknowledgements: listAt(answer, 'acknowledgements').filter(isText),
    keys: { keys: listAt(answer, 'keys') as CheckpointKeys['keys'] },
  }
}
