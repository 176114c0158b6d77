// A registration of the webhook that waits for its answer for as long as the API server can, and takes no failure for an answer.
// Where what the webhook says is tested, one that comes late on a busy machine would be none, and with `Ignore` it would allow.
import type { Manifest } from '../../src/admission/policies.ts'

export function patient(registration: Manifest): Manifest {
  const { webhooks } = registration as Manifest & { readonly webhooks: readonly object[] }
  const waiting = webhooks.map(one => ({ ...one, timeoutSeconds: 30, failurePolicy: 'Fail' }))
  return Object.assign({}, registration, { webhooks: waiting })
}
