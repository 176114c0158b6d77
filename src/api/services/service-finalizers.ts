// The finalizers of services of tenants, on which the two processes agree that have some.
import { domain } from '../kind.ts'

/** Of data-services: they stay until it has ended what is on the server, and has said so in the status. */
export const instanceFinalizer = `${domain}/service-instance`
export const bucketFinalizer = `${domain}/bucket`
export const bindingFinalizer = `${domain}/service-binding`
export const serviceFinalizers = [instanceFinalizer, bucketFinalizer, bindingFinalizer] as const

/** Of the controllers: it stays until the audit log has what became of the object. */
export const recordFinalizer = `${domain}/service-record`
