// What `spec.provider` of a ServiceClass says to those who open the way to its server. Pure.
import type { ServiceClass } from './service-class.ts'

export type ServiceType = 'postgresql' | 'bucket'

/** The member of `spec.provider` that the type has; the schema requires it. */
export function postgresqlOf({ spec }: ServiceClass) {
  const { postgresql } = spec.provider
  if (postgresql === undefined) throw new Error('the schema requires the member of the type')
  return postgresql
}

export function s3Of({ spec }: ServiceClass) {
  const { s3 } = spec.provider
  if (s3 === undefined) throw new Error('the schema requires the member of the type')
  return s3
}

/** The TCP port at which pods reach the service. */
export function portOf(serviceClass: ServiceClass): number {
  if (serviceClass.spec.type === 'postgresql') return postgresqlOf(serviceClass).port
  const { port, protocol } = new URL(s3Of(serviceClass).endpoint)
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port)
}

/** Whether credentials carry the certificates of a private authority. */
export function hasAuthority({ spec }: ServiceClass): boolean {
  return spec.provider.postgresql?.tls.caSecret !== undefined || spec.provider.s3?.caSecret !== undefined
}
