// Users: one for each slot of a ServiceBinding, with one policy and one key. A key ends with its user. What an administrator of
// the store added to a user of ours is taken away where the store lets it be seen, and else found by the proof.
import {
  CreateAccessKeyCommand,
  CreateUserCommand,
  DeleteAccessKeyCommand,
  DeleteUserCommand,
  DeleteUserPolicyCommand,
  type IAMClient,
  ListAccessKeysCommand,
  ListUserPoliciesCommand,
  PutUserPolicyCommand,
} from '@aws-sdk/client-iam'
import { SecretString } from '../../../lib/secret-string.ts'
import { codeOf, StoreError } from '../../../object-store/store-error.ts'
import { type Grant, policyOf } from './policy.ts'
import type { Store, StoreKey } from './store.ts'

/** An administrator can restrict the key of the platform to users below it. */
export const userPath = '/sekisho/'
export const policyName = 'binding'
const absent = 'NoSuchEntity'

export type WantedUser = Grant & { readonly user: string }
export type ListedKey = { readonly id: string; readonly createdAt: Date }

/** Makes the user with this policy and no other; again it changes nothing. Keys stay. */
export function ensureUser(store: Store, { user, ...grant }: WantedUser): Promise<void> {
  const document = JSON.stringify(policyOf(grant))
  return inTurn(store, user, async iam => {
    await iam.send(new CreateUserCommand({ UserName: user, Path: userPath })).catch(unless('EntityAlreadyExists'))
    await iam.send(new PutUserPolicyCommand({ UserName: user, PolicyName: policyName, PolicyDocument: document }))
    for (const name of await policiesOf(iam, user)) if (name !== policyName) await deletePolicy(iam, user, name)
  })
}

/** A new key, and the only one of the user: whatever key it had is refused. Again it makes another one. */
export function issueKey(store: Store, user: string): Promise<StoreKey> {
  return inTurn(store, user, async iam => {
    for (const { id } of await listKeys(iam, user)) await deleteKey(iam, user, id)
    const { AccessKey: made } = await iam.send(new CreateAccessKeyCommand({ UserName: user }))
    if (made?.AccessKeyId === undefined || made.SecretAccessKey === undefined)
      throw new StoreError('refused', 'the store made a key and did not say which', { cause: undefined })
    // One whose answer was lost, so that the request was repeated.
    for (const { id } of await listKeys(iam, user)) if (id !== made.AccessKeyId) await deleteKey(iam, user, id)
    return { accessKeyId: made.AccessKeyId, secretAccessKey: new SecretString(made.SecretAccessKey) }
  })
}

/** None for a user that does not exist. */
export function keysOf(store: Store, user: string): Promise<readonly ListedKey[]> {
  return store.asAdministrator(({ iam }) => listKeys(iam, user))
}

/** Those of the users that have a key. */
export async function liveUsers(store: Store, users: readonly string[]): Promise<ReadonlySet<string>> {
  const live = new Set<string>()
  for (const user of users) if ((await keysOf(store, user)).length > 0) live.add(user)
  return live
}

/** The key is refused when this resolves, as soon as the store has told all its parts. Idempotent. */
export function dropKey(store: Store, { user, id }: { readonly user: string; readonly id: string }): Promise<void> {
  return inTurn(store, user, iam => deleteKey(iam, user, id))
}

/** Ends the user, its keys first. Idempotent. */
export function dropUser(store: Store, user: string): Promise<void> {
  return inTurn(store, user, async iam => {
    for (const { id } of await listKeys(iam, user)) await deleteKey(iam, user, id)
    for (const name of await policiesOf(iam, user)) await deletePolicy(iam, user, name)
    await iam.send(new DeleteUserCommand({ UserName: user })).catch(unless(absent))
  })
}

function inTurn<T>(store: Store, user: string, work: (iam: IAMClient) => Promise<T>): Promise<T> {
  return store.turns.run(`user ${user}`, () => store.asAdministrator(({ iam }) => work(iam)))
}

async function listKeys(iam: IAMClient, user: string): Promise<readonly ListedKey[]> {
  const listed = await iam.send(new ListAccessKeysCommand({ UserName: user })).catch(unless(absent))
  return (listed?.AccessKeyMetadata ?? []).map(({ AccessKeyId = '', CreateDate = new Date(0) }) => {
    return { id: AccessKeyId, createdAt: CreateDate }
  })
}

async function policiesOf(iam: IAMClient, user: string): Promise<readonly string[]> {
  const listed = await iam.send(new ListUserPoliciesCommand({ UserName: user })).catch(unless(absent))
  return listed?.PolicyNames ?? []
}

async function deleteKey(iam: IAMClient, user: string, id: string): Promise<void> {
  await iam.send(new DeleteAccessKeyCommand({ UserName: user, AccessKeyId: id })).catch(unless(absent))
}

async function deletePolicy(iam: IAMClient, user: string, name: string): Promise<void> {
  await iam.send(new DeleteUserPolicyCommand({ UserName: user, PolicyName: name })).catch(unless(absent))
}

/** @throws what is not this answer of the store */
function unless(code: string): (error: unknown) => undefined {
  return error => {
    if (codeOf(error) !== code) throw error
    return undefined
  }
}
