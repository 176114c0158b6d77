// The name of a credential on its server, which is no secret. Pure.
import type { ServiceBinding } from '../../api/services/service-binding.ts'
import { loginName, type SlotName } from '../adapters/postgresql/identifiers.ts'
import { userName } from '../adapters/s3/names.ts'

export function principalOf({ metadata, spec }: ServiceBinding, slot: SlotName): string {
  const { uid = '' } = metadata
  return spec.service.kind === 'Bucket' ? userName(uid, slot) : loginName(uid, slot)
}
