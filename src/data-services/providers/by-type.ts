// The provider of each type of ServiceClass. One line for each.
import type { ServiceClass } from '../../api/services/service-class.ts'
import { bucketProvider } from './bucket.ts'
import { postgresqlProvider } from './postgresql.ts'
import type { Answer, OpenServer, Provider, ServerAccess } from './provider.ts'

const providers = { postgresql: postgresqlProvider, bucket: bucketProvider }

export function providerOf({ spec }: ServiceClass): Pick<Provider, 'accountKeys' | 'secretsOf'> {
  return providers[spec.type]
}

export function connect(serviceClass: ServiceClass, access: ServerAccess): OpenServer {
  return providers[serviceClass.spec.type].connect(serviceClass, access)
}

/** Rejects with what the adapter rejects with. */
export function check(opened: OpenServer): Promise<Answer> {
  return opened.type === 'postgresql' ? providers.postgresql.check(opened) : providers.bucket.check(opened)
}

/** Rejects with what the adapter rejects with. */
export function leave(opened: OpenServer): Promise<void> {
  return opened.type === 'postgresql' ? providers.postgresql.leave(opened) : providers.bucket.leave(opened)
}

export function close(opened: OpenServer): Promise<void> {
  return opened.type === 'postgresql' ? providers.postgresql.close(opened) : providers.bucket.close(opened)
}
