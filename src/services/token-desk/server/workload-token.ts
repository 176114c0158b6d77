// From an identified workload and the name of a grant to a token of the desk: the one way for everything that serves workloads.
// It discloses nothing about grants: a refusal is always the same.
import type { GrantDelivery } from '../../../api/github/repository-grant/delivery.ts'
import { AppError, isAppError } from '../../../lib/errors.ts'
import { defined } from '../../../lib/json/defined.ts'
import type { DeliveredToken, TokenDesk, TokenRequest } from '../token-desk.ts'
import type { Workload } from './workload.ts'

type Desk = Pick<TokenDesk, 'request' | 'grantUid'>

/** Always with the same message: a workload must not learn here whether a grant exists, is approved or names others. */
export function noToken(): AppError {
  return new AppError('forbidden', 'there is no token for this workload under that grant')
}

/** What a workload asks of the desk: the grant of that name in its own namespace. */
export async function workloadRequest(
  desk: Pick<Desk, 'grantUid'>,
  { subject, username: actor, from }: Workload,
  name: string,
  delivery?: GrantDelivery,
): Promise<TokenRequest> {
  const { namespace } = subject
  const uid = await desk.grantUid({ namespace, name })
  // Without a uid the desk refuses, and records the refusal as every other one.
  const metadata = { namespace, name, ...defined({ uid }) }
  return { grant: { metadata }, subject, actor, from, ...defined({ delivery }) }
}

/** @throws as `TokenDesk.request`, with the message of `noToken` for everything that was refused */
export async function disclosingNothing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (isAppError(error, 'forbidden') || isAppError(error, 'not_found')) throw noToken()
    throw error
  }
}

/** The token of the grant of that name. @throws as `disclosingNothing` */
export function tokenFor(desk: Desk, workload: Workload, name: string): Promise<DeliveredToken> {
  return disclosingNothing(async () => desk.request(await workloadRequest(desk, workload, name)))
}
