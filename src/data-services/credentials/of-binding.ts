// The credentials of a ServiceBinding, by the kind of its service.
import type { ServiceBinding } from '../../api/services/service-binding.ts'
import type { OpenServer } from '../providers/provider.ts'
import { bucketCredentials } from './bucket.ts'
import type { Credentials } from './credentials.ts'
import { databaseCredentials } from './postgresql.ts'

/** `id`: the name of the database or bucket on the server. */
export function credentialsOf(opened: OpenServer, binding: ServiceBinding, id: string): Credentials {
  return opened.type === 'postgresql' ? databaseCredentials(opened, binding, id) : bucketCredentials(opened, binding, id)
}
