// Makes a credential, tries it, and delivers it, in this order. What was not proven never reaches the Secret, and ends on the
// server.
import { randomBytes } from 'node:crypto'
import { type Secret, secrets } from '../../api/builtin/index.ts'
import { noVersion } from '../../api/resource.ts'
import { serviceBindingReasons as reasons } from '../../api/services/service-binding.ts'
import { clusterRefusal } from '../../controllers/kit/cluster-refusal.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import { isKubeError } from '../../kube/client/errors.ts'
import { defined } from '../../lib/json/defined.ts'
import { SecretString } from '../../lib/secret-string.ts'
import type { Refusal } from '../../policy/check.ts'
import { namesOf } from '../adapters/postgresql/identifiers.ts'
import { dropLogin, ensureLogin } from '../adapters/postgresql/logins.ts'
import { observe } from '../adapters/postgresql/proof.ts'
import { judge } from '../proofs/judge.ts'
import type { Slot } from '../slots/slots.ts'
import { isOwn, type Ready } from './decide.ts'
import { type Delivery, desiredSecret, isAsDesired, versionOf } from './desired.ts'
import { type Facts, loginOf } from './gather.ts'

export const fieldManager = 'sekisho.dev/service-binding'
const passwordBytes = 32

type Deps = { readonly client: Pick<KubeClient, 'apply'> }

/** Undefined when the Secret holds it. Rejects with the error of the server when it cannot be asked, or a conflict. */
export async function issue(deps: Deps, facts: Facts, ready: Ready, slot: Slot): Promise<Refusal | undefined> {
  const { id, opened, connections } = ready
  const { server } = opened
  const { access } = facts.binding.spec
  const username = loginOf(facts.binding, slot.slot)
  const password = new SecretString(randomBytes(passwordBytes).toString('base64url'))
  const role = await ensureLogin(server, { id, name: username, access, connections }, password)
  // Over its plan an instance has no credential that writes.
  const proven = role === namesOf(id).remover ? 'ReadOnly' : access
  const proof = judge(proven, { login: username, role }, await observe(server, id, { username, password }))
  if (proof.kind !== 'proven') {
    await dropLogin(server, id, username)
    return { reason: proof.kind === 'wider' ? reasons.widerThanAsked : reasons.narrowerThanAsked, message: proof.message }
  }
  const { host, port, tls } = opened
  const version = nextVersion(facts)
  const refusal = await apply(deps, facts, {
    slot: { slot: slot.slot, issuedAt: slot.issuedAt },
    version,
    host,
    port,
    tls,
    database: namesOf(id).database,
    username,
    password,
  })
  if (refusal !== undefined) await dropLogin(server, id, username)
  return refusal
}

/** Writes the Secret again, with the password that it has, when the server moved or somebody changed it. */
export async function refresh(
  deps: Deps,
  facts: Facts,
  ready: Ready,
  slot: Delivery['slot'],
): Promise<{ readonly changed: boolean; readonly refusal: Refusal | undefined }> {
  const { secret, binding } = facts
  const stored = secret?.data?.['password']
  if (secret === undefined || stored === undefined) return { changed: false, refusal: undefined }
  const { host, port, tls } = ready.opened
  const delivery: Delivery = {
    slot,
    version: nextVersion(facts),
    host,
    port,
    tls,
    database: namesOf(ready.id).database,
    username: loginOf(binding, slot.slot),
    password: new SecretString(Buffer.from(stored, 'base64').toString('utf8')),
  }
  if (isAsDesired(secret, desiredSecret(binding, delivery))) return { changed: false, refusal: undefined }
  return { changed: true, refusal: await apply(deps, facts, delivery) }
}

function nextVersion({ secret, binding }: Facts): number {
  return Math.max(versionOf(secret), binding.status?.version ?? 0) + 1
}

async function apply({ client }: Deps, facts: Facts, delivery: Delivery): Promise<Refusal | undefined> {
  const desired = desiredSecret(facts.binding, delivery)
  const object = { ...desired, metadata: { ...desired.metadata, ...placeOf(isOwn(facts) ? facts.secret : undefined) } }
  try {
    await client.apply(secrets, object, { fieldManager, force: true })
    return undefined
  } catch (error) {
    // The namespace is gone, or the Secret that was to be changed.
    if (isKubeError(error, 404)) throw error
    return { reason: reasons.refusedByCluster, message: clusterRefusal(desired, error).message }
  }
}

/** One that was written since it was read is not overwritten: another process would have made that password. */
function placeOf(secret: Secret | undefined): { readonly resourceVersion?: string; readonly uid?: string } {
  if (secret === undefined) return { resourceVersion: noVersion }
  const { resourceVersion, uid } = secret.metadata
  return defined({ resourceVersion, uid })
}
