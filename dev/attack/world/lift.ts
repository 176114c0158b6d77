// A Halt ends by being lifted: nobody but the platform deletes one, the administrator of the cluster neither.
import type { AdminClient } from '../../cluster/control-plane/admin-client.ts'

type Found = { readonly spec?: { readonly lifted?: object } }

export function isHalt(path: string): boolean {
  return /\/halts\/[^/]+$/.test(path)
}

/** Resolves when it is lifted or gone; the platform then deletes it. */
export async function liftHalt(admin: AdminClient, path: string): Promise<void> {
  const found = await admin.request('GET', path)
  if (found.status === 404 || (found.body as Found).spec?.lifted !== undefined) return
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
  const { status } = (await admin.call('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', review)) as {
    readonly status: { readonly userInfo: { readonly username: string } }
  }
  const lifted = { by: status.userInfo.username, reason: 'the attack is over' }
  const answer = await admin.request('PATCH', path, { spec: { lifted } }, 'application/merge-patch+json')
  if (answer.status >= 400 && answer.status !== 404)
    throw new Error(`${path} cannot be lifted: ${answer.status} ${JSON.stringify(answer.body).slice(0, 200)}`)
}
